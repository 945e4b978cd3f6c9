internal import Glibc

/// Looks at the processes below this one, again and again.
struct Descendants {
    /// The highest values seen at one time: resident bytes of all together, open files of one.
    private(set) var peakSum = 0
    private(set) var peakFiles = 0

    /// Processes that are not descendants. A process does not become one later.
    private var others: Set<Int32> = []
    private var family: Set<Int32> = [getpid()]
    private let pageSize = sysconf(Int32(_SC_PAGESIZE))

    mutating func look() {
        let (running, own) = (Descendants.numbers(in: "/proc"), getpid())
        others.formIntersection(running)
        family.formIntersection(running)
        for process in running.sorted() where !others.contains(process) && !family.contains(process) {
            if Descendants.parent(of: process).map(family.contains) == true {
                family.insert(process)
            } else {
                others.insert(process)
            }
        }
        var sum = 0
        for process in family where process != own {
            // size resident shared …, in pages
            let fields = Descendants.text("/proc/\(process)/statm").split(separator: " ")
            if fields.count > 1, let pages = Int(fields[1]) { sum += pages * pageSize }
            peakFiles = max(peakFiles, Descendants.numbers(in: "/proc/\(process)/fd").count)
        }
        peakSum = max(peakSum, sum)
    }

    private static func parent(of process: Int32) -> Int32? {
        // number (name) state parent …, and a name may hold blanks and brackets.
        let stat = text("/proc/\(process)/stat")
        guard let end = stat.lastIndex(of: ")") else { return nil }
        let fields = stat[stat.index(after: end)...].split(separator: " ")
        return fields.count > 1 ? Int32(fields[1]) : nil
    }

    /// Names in a folder that are numbers; none if it cannot be read.
    private static func numbers(in folder: String) -> Set<Int32> {
        guard let listing = opendir(folder) else { return [] }
        defer { closedir(listing) }
        var found: Set<Int32> = []
        while let entry = readdir(listing) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let number = Int32(name) { found.insert(number) }
        }
        return found
    }

    /// The start of a small file; empty if the process has gone.
    static func text(_ path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        return String(unsafeUninitializedCapacity: 4096) { max(0, Glibc.read(file, $0.baseAddress, $0.count)) }
    }
}
