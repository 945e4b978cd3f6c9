/// Names of files in an archive: legible, and each different from the others also where case does not count.
package struct ArchiveNames {
    private var taken: Set<String> = []

    package init() {}

    /// A name for a file that should have this one.
    package mutating func name(for wanted: String) -> String {
        let legible = ArchiveNames.legible(wanted)
        let dot = legible.dropFirst().lastIndex(of: ".") ?? legible.endIndex
        let (stem, ending) = (legible[..<dot], legible[dot...])
        var (name, number) = (legible, 1)
        while !taken.insert(name.lowercased()).inserted {
            number += 1
            name = "\(stem) (\(number))\(ending)"
        }
        return name
    }

    /// The name without what no file system or screen takes, and not too long.
    private static func legible(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar -> Character in
            let isSeen =
                switch scalar.properties.generalCategory {
                // The joiners of scripts and emoji.
                case .format where [0x200c, 0x200d].contains(scalar.value): true
                case .control, .format, .privateUse, .surrogate, .lineSeparator, .paragraphSeparator, .unassigned: false
                default: !"/\\:*?\"<>|".unicodeScalars.contains(scalar)
                }
            return isSeen ? Character(scalar) : "_"
        }
        var name = String(scalars).drop { $0 == "." || $0 == " " }
        while name.last == "." || name.last == " " { name.removeLast() }
        return name.isEmpty ? "video" : String(name).shortened(toBytes: FileNames.mostBytes)
    }
}

package enum FileNames {
    /// Bytes of a name. Most file systems take 255; a number or a word may be added.
    package static let mostBytes = 200
}

extension String {
    /// A name of a file of this many bytes at most, with its ending if that is short.
    package func shortened(toBytes most: Int) -> String {
        guard utf8.count > most else { return self }
        let dot = lastIndex(of: ".") ?? endIndex
        let ending = self[dot...].utf8.count <= 16 ? self[dot...] : ""
        var stem = ending.isEmpty ? self[...] : self[..<dot]
        while stem.utf8.count + ending.utf8.count > most { stem.removeLast() }
        return String(stem) + String(ending)
    }
}
