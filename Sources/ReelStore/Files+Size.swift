internal import Glibc

extension Files {
    /// Bytes that the files of a folder and of those in it take on the disk. What cannot be read counts as nothing.
    static func size(ofTree folder: String) -> Int64 {
        let names = (try? names(in: folder)) ?? []
        return names.reduce(0) { sum, name in
            let path = "\(folder)/\(name)"
            guard let entry = try? entry(path) else { return sum }
            // st_blocks counts 512 bytes (POSIX, sys/stat.h).
            return sum + (entry.st_mode & S_IFMT == S_IFDIR ? size(ofTree: path) : Int64(entry.st_blocks) * 512)
        }
    }
}
