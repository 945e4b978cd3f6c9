internal import Foundation
internal import ReelCore

/// A folder that is named in place of the videos in it.
enum VideoFolder {
    /// Extensions of files that are taken from a folder.
    private static let extensions: Set<String> = [
        "3g2", "3gp", "asf", "avi", "divx", "dv", "f4v", "flv", "gif", "m2t", "m2ts", "m4v", "mkv", "mov", "mp4",
        "mpeg",
        "mpg", "mts", "mxf", "nut", "ogm", "ogv", "qt", "rm", "rmvb", "ts", "vob", "webm", "wmv", "y4m",
    ]

    /// The paths of the videos in a folder, by name; any other path as it is. Throws `.folderWithoutVideos`.
    static func files(in path: String) throws(ReelFailure) -> [String] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
            return [path]
        }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        let videos = names.filter { name in
            !name.hasPrefix(".") && extensions.contains(URL(fileURLWithPath: name).pathExtension.lowercased())
        }
        guard !videos.isEmpty else { throw ReelFailure(.folderWithoutVideos(path: URL(fileURLWithPath: path).path)) }
        return videos.sorted().map { URL(fileURLWithPath: path).appendingPathComponent($0).path }
    }
}
