"""Marks shared by all suites."""

import pytest

import settings


def pytest_configure(config):
    config.addinivalue_line("markers", "gateway_only: means something only through the gateway")


def pytest_collection_modifyitems(items):
    if settings.THROUGH_GATEWAY:
        return
    skip = pytest.mark.skip(reason="needs the gateway's keys (SVC_SDK_GATEWAY=1)")
    for item in items:
        if item.get_closest_marker("gateway_only"):
            item.add_marker(skip)
