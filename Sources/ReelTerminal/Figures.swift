internal import Foundation
internal import ReelCore
internal import ReelJobs
internal import ReelWords

package enum Figures {
    static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(width - text.count, 0))
    }

    /// "62 %"; an unfinished job never shows 100.
    static func percent(_ view: JobView) -> String {
        guard view.state != .done else { return "100 %" }
        return view.frames > 0 ? "\(min(view.framesEncoded * 100 / view.frames, 99)) %" : "0 %"
    }

    /// Of a part from 0 to 1.
    static func percent(_ share: Double) -> String { "\(Int(share * 100)) %" }

    static func speed(_ framesPerSecond: Double) -> String { "\((framesPerSecond * 10).rounded() / 10) fps" }

    /// The state's name, or "paused" or "waiting" if the job makes no progress in it.
    static func state(_ view: JobView) -> String {
        guard !view.state.isTerminal else { return view.state.rawValue }
        return view.paused ? "paused" : view.waitReason != nil ? "waiting" : view.state.rawValue
    }

    /// "18/40 passes, 2 in flight, 19 ready". Counts of 0 are left out, except for the finished passes.
    static func passes(_ view: JobView) -> String {
        let counts = [
            (view.passesLive, "in flight"), (view.passesReady, "ready"), (view.passesRetrying, "retrying"),
            (view.passesExhausted, "exhausted"),
        ]
        let told = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        let wait = view.oldestWait.map { "oldest wait \(ClockTime.text(seconds: $0))" }
        return (["\(view.passesDone)/\(view.passes) passes"] + told + [wait].compactMap(\.self)).joined(separator: ", ")
    }

    /// How long ago: "45s", "12m", "7h", "3d".
    static func age(_ seconds: Double) -> String {
        let whole = Int(max(0, min(seconds, 1e12)))
        return switch whole {
        case 0..<60: "\(whole)s"
        case 60..<3600: "\(whole / 60)m"
        case 3600..<(48 * 3600): "\(whole / 3600)h"
        default: "\(whole / (24 * 3600))d"
        }
    }

    /// How long an ended job took, from its submission on: "1:12"; empty until it ends.
    static func duration(_ view: JobView) -> String {
        view.finished.map { ClockTime.text(seconds: max($0 - view.created, 0).rounded(.up)) } ?? ""
    }

    /// A number as people write it: "3", "0.5".
    package static func number(_ number: Double) -> String { Int(exactly: number).map(String.init) ?? "\(number)" }

    /// "project=trailer,take=3", sorted.
    static func labels(_ view: JobView) -> String {
        view.labels.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ",")
    }

    /// A place in a video: "1:12:30.120".
    static func position(_ seconds: Double) -> String {
        let milliseconds = Int64(nearest: abs(seconds) * 1000)
        let whole = ClockTime.text(seconds: Double(milliseconds / 1000))
        return (seconds < 0 ? "-" : "") + whole + "." + String(1000 + milliseconds % 1000).dropFirst()
    }

    static func style(_ view: JobView) -> ScreenLine.Style {
        switch view.state {
        case .done: .good
        case .failed: .bad
        case .cancelled: .faint
        case .probing, .running, .assembling: view.paused || view.waitReason != nil ? .plain : .busy
        }
    }
}

enum OptionsText {
    /// The container, and each option whose value is not the default, by its name in words: "mp4, crf 20, preset slow".
    static func line(_ spec: JobSpec) -> String {
        let usual = values(JobSpec(container: spec.container))
        let told = values(spec).filter { usual[$0.key] != $0.value }.sorted { $0.key < $1.key }
        return ([spec.container.rawValue] + told.map { text($0.key, $0.value) }).joined(separator: ", ")
    }

    private enum OptionValue: Decodable, Equatable {
        case flag(Bool), number(Double), text(String)
        /// An object or an array, which is too long for a line.
        case whole

        init(from decoder: any Decoder) throws {
            self = .whole
            guard let container = try? decoder.singleValueContainer() else { return }
            if let text = try? container.decode(String.self) { self = .text(text) }
            if let number = try? container.decode(Double.self) { self = .number(number) }
            if let flag = try? container.decode(Bool.self) { self = .flag(flag) }
        }
    }

    private static func values(_ spec: JobSpec) -> [String: OptionValue] {
        let coded = try? JSONEncoder().encode(spec)
        return coded.flatMap { try? JSONDecoder().decode([String: OptionValue].self, from: $0) } ?? [:]
    }

    /// The value of a fraction, as times are coded, if it has few digits: "5/2" is 2.5; nil for "24000/1001".
    private static func time(_ text: String) -> String? {
        let parts = text.split(separator: "/").map { Double($0) }
        guard parts.count == 2, let over = parts[0], let under = parts[1], under != 0 else { return nil }
        let milliseconds = over / under * 1000
        return milliseconds == milliseconds.rounded() ? Figures.number(over / under) : nil
    }

    private static func text(_ option: String, _ value: OptionValue) -> String {
        let name = option.hyphenated.replacing("-", with: " ")
        return switch value {
        case .flag, .whole: name
        case .number(let number): "\(name) \(Figures.number(number))"
        case .text(let text): "\(name) \(time(text) ?? text)"
        }
    }
}
