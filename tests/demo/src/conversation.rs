//! A conversation without its shape: the same words give the same answer whichever vendor is emulated.

use crate::media::Media;

/// What has been said so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Conversation {
    /// Texts of the operator, in order.
    pub(crate) system: Vec<String>,
    /// Texts of both sides, each with the speaker's name before it.
    pub(crate) history: Vec<String>,
    /// The last text of the last user turn that has any.
    pub(crate) text: String,
    /// Attachments of that turn, or of the tool results that end the conversation.
    pub(crate) media: Vec<Media>,
    /// Results of tools, when they end the conversation.
    pub(crate) results: Vec<String>,
    /// How often tools have answered since the user last spoke.
    pub(crate) rounds: usize,
}

impl Conversation {
    pub(crate) fn instruct(&mut self, text: &str) {
        self.system.push(text.to_owned());
    }

    /// The user speaks or shows something.
    pub(crate) fn ask(&mut self, texts: Vec<String>, media: Vec<Media>) {
        let said: Vec<String> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        if said.is_empty() && media.is_empty() {
            return;
        }
        self.results.clear();
        self.rounds = 0;
        self.history.extend(said.iter().map(|text| format!("user: {text}")));
        self.text = said.into_iter().next_back().unwrap_or_default();
        self.media = media;
    }

    /// The model's own turn.
    pub(crate) fn reply(&mut self, texts: Vec<String>) {
        self.results.clear();
        self.media.clear();
        self.history.extend(texts.into_iter().filter(|text| !text.is_empty()).map(|text| format!("model: {text}")));
    }

    /// A piece of the model's turn: SDKs that keep a stream's chunks send one text in many.
    pub(crate) fn go_on(&mut self, text: String) {
        let spoke = self.results.is_empty() && self.history.last().is_some_and(|last| last.starts_with("model: "));
        match self.history.last_mut().filter(|_| spoke) {
            Some(last) => last.push_str(&text),
            None => self.reply(vec![text]),
        }
    }

    /// All tools called in the turn before have answered.
    pub(crate) fn results(&mut self, results: Vec<String>, media: Vec<Media>) {
        if results.is_empty() {
            return;
        }
        self.rounds += 1;
        self.results = results;
        self.media = media;
    }
}
