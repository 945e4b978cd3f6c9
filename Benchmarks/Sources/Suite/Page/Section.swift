internal import Foundation

/// A part of the page: text in Markdown, and which goals it measured.
struct Section: Sendable {
    let title: String
    var text = ""
    var goals: [Goal] = []
    /// Pictures that the text shows, by file name.
    var pictures: [String: String] = [:]

    init(_ title: String) { self.title = title }

    mutating func say(_ paragraph: String) { text += paragraph + "\n\n" }

    /// A table; all columns but the first are numbers.
    mutating func table(_ columns: [String], _ rows: [[String]]) {
        text += Section.line(columns) + "| --- |" + columns.dropFirst().map { _ in " ---: |" }.joined() + "\n"
        text += rows.map(Section.line).joined() + "\n"
    }

    /// A picture, which is written beside the page.
    mutating func show(_ name: String, _ picture: String) {
        pictures[name] = picture
        say("![\(title)](images/\(name))")
    }

    private static func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |\n" }
}

func duration(_ value: Double) -> String { String(format: "%.2f s", value) }

func megabytes(_ value: Double) -> String { String(format: "%.0f MiB", value / 1_048_576) }

func figure(_ value: Double, _ format: String = "%.2f") -> String { String(format: format, value) }
