internal import Foundation
internal import ReelCore
internal import ReelWords

/// The arguments of this process as the kernel has them. `CommandLine.arguments` replaces bytes that are not UTF-8 by
/// U+FFFD, so a path in it might name another file.
enum CommandArguments {
    /// Throws `.argumentNotText` for the first argument that is not UTF-8.
    static func check() throws(ReelFailure) {
        guard let bytes = try? Data(contentsOf: URL(fileURLWithPath: "/proc/self/cmdline")) else { return }
        for argument in bytes.split(separator: 0) where String(validating: argument, as: UTF8.self) == nil {
            let text = argument.map { byte in
                byte < 0x80 ? String(Character(Unicode.Scalar(byte))) : "\\x" + String(byte, radix: 16, uppercase: true)
            }
            throw ReelFailure(.argumentNotText(text: text.joined()))
        }
    }
}
