internal import Foundation

/// Whether something is at a path, links followed.
func fileExists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
