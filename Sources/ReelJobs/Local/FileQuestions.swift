internal import Foundation

/// Whether there is a file or folder at a path; links are followed.
func fileExists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
