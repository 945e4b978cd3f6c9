internal import Foundation

/// The page that the suite writes.
struct SuitePage {
    let heading: String
    var sections: [Section] = []

    private static let (begin, end) = ("<!-- run -->\n", "<!-- end of run -->")

    var text: String {
        var goals = Section("Against what reel aims at")
        goals.table(
            ["figure", "aim", "found", "floor, without reel", "reached"], sections.flatMap(\.goals).map(\.row))
        let all = sections.contains { !$0.goals.isEmpty } ? [goals] + sections : sections
        return heading + "\n\n" + all.map { "## \($0.title)\n\n\($0.text)" }.joined()
    }

    /// Puts the text between the page's marks, and the pictures beside the page.
    func write(to path: String) throws {
        let old = try String(contentsOfFile: path, encoding: .utf8)
        guard let begin = old.range(of: SuitePage.begin), let end = old.range(of: SuitePage.end) else {
            throw Trouble("\(path) has no place for the results")
        }
        let new = old[..<begin.upperBound] + text.trimmingCharacters(in: .newlines) + "\n" + old[end.lowerBound...]
        try String(new).write(toFile: path, atomically: true, encoding: .utf8)
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent("images")
        for (name, picture) in sections.flatMap(\.pictures) {
            try Data(picture.utf8).write(to: folder.appendingPathComponent(name))
        }
    }
}
