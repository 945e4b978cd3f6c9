import ArgumentParser
internal import Foundation
package import ReelCore

/// The option `--source-root`: the folders from which sources are taken.
package struct SourceRootOption: ParsableArguments {
    @Option(
        name: .customLong("source-root"),
        help: ArgumentHelp(
            """
            Take sources from this folder only; links may not lead out of it. May be repeated. REEL_SOURCE_ROOTS sets the \
            default, with a colon between folders. Without either, any file that can be read is taken.
            """, valueName: "dir"), completion: .directory)
    private var folders: [String] = []

    /// For ArgumentParser.
    package init() {}

    /// The folders that option or environment name; nil if they name none. Throws `.sourceRootUnusable` if one is no folder.
    package func roots() throws(ReelFailure) -> SourceRoots? {
        try SourceRootOption.roots(of: folders.isEmpty ? SourceRootOption.unasked : folders)
    }

    /// Those folders; nil for none. Throws `.sourceRootUnusable` if one is no folder.
    package static func roots(of named: [String]) throws(ReelFailure) -> SourceRoots? {
        guard !named.isEmpty else { return nil }
        var paths: [String] = []
        for name in named {
            let path = URL(fileURLWithPath: name).standardizedFileURL.path
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
                throw ReelFailure(.sourceRootUnusable(path: path, errno: ENOENT))
            }
            guard isFolder.boolValue else { throw ReelFailure(.sourceRootUnusable(path: path, errno: ENOTDIR)) }
            paths.append(path)
        }
        return SourceRoots(paths)
    }

    /// Those of the environment, else those of the configuration file.
    private static var unasked: [String] {
        guard let text = ProcessInfo.processInfo.environment["REEL_SOURCE_ROOTS"] else {
            return Settings.list(.sourceRoots) ?? []
        }
        return text.split(separator: ":").map(String.init)
    }
}
