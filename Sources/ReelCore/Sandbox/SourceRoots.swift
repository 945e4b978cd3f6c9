/// The folders from which sources are taken; links do not lead out of them. Copies of sources in a store are taken, too.
package struct SourceRoots: Codable, Hashable, Sendable {
    /// Absolute paths.
    package let folders: [String]

    /// Roots of absolute paths.
    package init(_ folders: [String]) { self.folders = folders }

    /// For each root that a path is spelled to lie in, the rest of the path.
    package func places(of path: String) -> [(root: String, rest: String)] {
        folders.compactMap { root in
            let start = root.hasSuffix("/") ? root : root + "/"
            return path.hasPrefix(start) ? (root, String(path.dropFirst(start.count))) : nil
        }
    }
}
