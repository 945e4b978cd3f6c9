internal import Foundation
internal import ReelCore

/// What was asked for in a job, as a line.
enum OptionsText {
    /// The container, and every option that has another value than the usual, by its name in words: "mp4, crf 20, preset
    /// slow".
    static func line(_ spec: JobSpec) -> String {
        let usual = values(JobSpec(container: spec.container))
        let told = values(spec).filter { usual[$0.key] != $0.value }.sorted { $0.key < $1.key }
        return ([spec.container.rawValue] + told.map { text($0.key, $0.value) }).joined(separator: ", ")
    }

    /// The value of an option as it is coded.
    private enum Value: Decodable, Equatable {
        case flag(Bool), number(Double), text(String)
        /// One with parts, which are too many for a line.
        case whole

        init(from decoder: any Decoder) throws {
            guard let container = try? decoder.singleValueContainer() else {
                self = .whole
                return
            }
            self =
                if let flag = try? container.decode(Bool.self) {
                    .flag(flag)
                } else if let number = try? container.decode(Double.self) {
                    .number(number)
                } else if let text = try? container.decode(String.self) {
                    .text(text)
                } else { .whole }
        }
    }

    private static func values(_ spec: JobSpec) -> [String: Value] {
        let coded = try? JSONEncoder().encode(spec)
        return coded.flatMap { try? JSONDecoder().decode([String: Value].self, from: $0) } ?? [:]
    }

    /// Of a fraction as times are coded, the number if it has few digits: "5/2" is 2.5, and "24000/1001" stays.
    private static func time(_ text: String) -> String? {
        let parts = text.split(separator: "/").map { Double($0) }
        guard parts.count == 2, let over = parts[0], let under = parts[1], under != 0 else { return nil }
        let milliseconds = over / under * 1000
        return milliseconds == milliseconds.rounded() ? Figures.number(over / under) : nil
    }

    private static func text(_ option: String, _ value: Value) -> String {
        let name = option.reduce(into: "") { $0 += $1.isUppercase ? " \($1.lowercased())" : String($1) }
        return switch value {
        case .flag, .whole: name
        case .number(let number): "\(name) \(Figures.number(number))"
        case .text(let text): "\(name) \(time(text) ?? text)"
        }
    }
}
