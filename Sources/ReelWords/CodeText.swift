package import ReelCore

/// The texts of a code: its row in the catalogue.
package struct CodeText: Hashable, Sendable {
    /// What was found or went wrong, and where: one line, without its full stop.
    package var words: String
    /// What the code means, whatever its facts are: one sentence.
    package var meaning: String
    /// What to do about it: one sentence.
    package var remedy: String

    init(_ words: String, _ meaning: String, _ remedy: String) {
        self.words = words
        self.meaning = meaning
        self.remedy = remedy
    }
}

extension ReelFailure {
    /// What went wrong, and where: one line, without its full stop.
    package var words: String { reason.words }
}

extension FailureReason {
    /// What went wrong, and where: one line, without its full stop. It names no option and no program: the caller adds
    /// those.
    package var words: String { text.words }

    /// The texts of the code. Tests check that every code has them.
    package var text: CodeText {
        sourceText ?? requestText ?? engineText ?? storeText ?? boardText ?? jobText ?? CodeText(code, "", "")
    }
}

/// The beginning of a message about a file.
func prefix(_ path: String?) -> String { path.map { "\($0): " } ?? "" }

/// The end of a message that quotes a program's last words.
func quoting(_ lastWords: String?) -> String { lastWords.map { "; it last said: \($0)" } ?? "" }

/// "pass 3", or "the probe".
func passName(_ number: Int) -> String { number < 0 ? "the probe" : "pass \(number)" }

extension FailureCause {
    /// What happens to the pass: one sentence.
    package var meaning: String {
        switch self {
        case .transient: "The pass is tried again after a delay, which grows with each attempt."
        case .crash: "The pass is tried again at once, on another worker if there is one."
        case .lost: "The pass is given to another worker."
        case .limit: "The pass is tried once more with twice the memory."
        case .incompatible: "The worker gets no more work of the job."
        case .noSpace: "The host gets no work until it has room; the pass is tried again."
        case .permanent: "The job fails; if there is a second host, only once that host has failed it, too."
        }
    }
}
