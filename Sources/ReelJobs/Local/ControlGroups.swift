internal import Foundation

/// The control groups of this process, which limit what it may use.
enum ControlGroups {
    /// The contents of those files that can be read.
    ///
    /// - Parameters:
    ///   - name: of the file in a group of version 2.
    ///   - legacy: controller and file in a group of version 1; nil for none.
    static func contents(of name: String, legacy: (controller: String, file: String)? = nil) -> [String] {
        guard let groups = text("/proc/self/cgroup") else { return [] }
        return files(name, legacy: legacy, cgroup: groups).compactMap(text)
    }

    /// The paths of such a file in the groups that /proc/self/cgroup names, `cgroup`, and in those above them.
    static func files(_ name: String, legacy: (controller: String, file: String)?, cgroup: String) -> [String] {
        cgroup.split(whereSeparator: \.isNewline).flatMap { line -> [String] in
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { return [] }
            let (root, file): (String, String)
            switch (String(parts[1]), legacy) {
            case ("", _): (root, file) = ("/sys/fs/cgroup", name)
            case (let controller, let legacy?) where controller == legacy.controller:
                (root, file) = ("/sys/fs/cgroup/\(controller)", legacy.file)
            default: return []
            }
            var folder = ""
            return ["\(root)/\(file)"]
                + parts[2].split(separator: "/").map { name in
                    folder += "/\(name)"
                    return "\(root)\(folder)/\(file)"
                }
        }
    }

    private static func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }
}
