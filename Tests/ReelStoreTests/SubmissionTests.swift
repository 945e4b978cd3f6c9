import ReelStore
import Testing

@Suite struct SubmissionTests {
    @Test func namesAndValues() {
        for text in ["a", "Trailer, take 3", "ä = b", "日本", String(repeating: "x", count: 100)] {
            #expect(Submission.isText(text), "\(text)")
        }
        for text in ["", "two\nlines", "a\tb", "\u{1B}[2J", String(repeating: "x", count: 101)] {
            #expect(!Submission.isText(text), "\(text)")
        }
    }

    @Test func namesOfLabels() {
        for name in ["a", "Project", "reel.org-2_x", String(repeating: "x", count: 40)] {
            #expect(Submission.isLabelName(name), "\(name)")
        }
        for name in ["", "a b", "a=b", "ä", "a/b", String(repeating: "x", count: 41)] {
            #expect(!Submission.isLabelName(name), "\(name)")
        }
    }

    @Test func theLastThatSaysSomethingCounts() {
        let first = Submission(name: "one", labels: ["a": "b"], submitter: "alice@h")
        let labels = Submission(labels: ["c": "d"], submitter: "bob@h")
        #expect(labels.after(first) == labels)
        let bare = Submission(submitter: "bob@h")
        #expect(bare.after(first) == Submission(name: "one", labels: ["a": "b"], submitter: "bob@h"))
        #expect(bare.after(nil) == bare)
    }
}
