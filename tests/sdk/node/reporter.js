// Failures in full, then one line: what a log of many suites needs.
export default async function* reporter(source) {
  const counts = { pass: 0, fail: 0, skip: 0 };
  for await (const { type, data } of source) {
    // A file is reported like a test of its own; only what is inside counts, unless the file itself broke.
    const isFile = data?.nesting === 0 && data?.file && data.name === data.file;
    if (type === "test:pass" && !isFile) counts[data.skip ? "skip" : "pass"]++;
    if (type === "test:fail") {
      counts.fail++;
      const error = data.details?.error;
      yield `FAILED ${data.file}: ${data.name}\n${error?.cause?.stack ?? error?.stack ?? error}\n`;
    }
    if (type === "test:stdout" || type === "test:stderr") yield data.message;
  }
  yield `${counts.pass} passed, ${counts.fail} failed, ${counts.skip} skipped\n`;
}
