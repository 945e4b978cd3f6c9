internal import Glibc
package import ReelCore

extension JobFolder {
    package func removeParts(keepingSegments: Bool) throws(ReelFailure) {
        if !keepingSegments { try remove(segments) }
        for folder in [stage, assemblies] { try remove(folder) }
        guard exists else { return }
        // A process that is writing the record has a file there that is not whole yet, too.
        try whileRecordStays { () throws(ReelFailure) in
            for name in try names() where JobFileName(name)?.isPart == true { try remove("\(path)/\(name)") }
        }
    }

    package func giveBackCopies() throws(ReelFailure) {
        guard exists, access(stage, F_OK) == 0 else { return }
        try whileRecordStays { () throws(ReelFailure) in
            guard try [.done, .cancelled].contains(read().state) else { return }
            try remove(stage)
        }
    }

    /// Removes the record, too, but not the lock, which its holder keeps.
    package func removeContents() throws(ReelFailure) {
        for name in try names() where JobFileName(name) != .lock { try remove("\(path)/\(name)") }
    }

    package func remove() throws(ReelFailure) {
        // A process that wants the same job makes its folders before it learns that another holds the lock.
        for _ in 0..<8 {
            if (try? removeAll()) != nil { return }
        }
        try removeAll()
    }

    /// No process changes the record meanwhile. Blocks.
    package func remove(ifStill read: JobRecord) throws(ReelFailure) -> Bool {
        guard exists else { return true }
        let isRemoved = try whileRecordStays { () throws(ReelFailure) in
            guard try self.read() == read else { return false }
            for name in try names() where ![.record, .recordLock].contains(JobFileName(name)) {
                try remove("\(path)/\(name)")
            }
            try remove(jobFile)
            return true
        }
        // If a process begins the same job by now, the folder is not empty and is that job's.
        if isRemoved { rmdir(path) }
        return isRemoved
    }

    /// Removes the folder if it has no record, nor any file that is made after the record, nothing directly in it has
    /// changed since a moment, in seconds since 1970, and no process holds its lock. A process that begins the job
    /// meanwhile makes the folder again. Blocks.
    func removeUnlessRecorded(before moment: Double) throws(ReelFailure) {
        guard !exists, let changed = lastChangeBeforeRecord, Double(changed) < moment,
            let lock = try takeLock()
        else { return }
        defer { withExtendedLifetime(lock) {} }
        let isRemoved = try whileRecordStays { () throws(ReelFailure) in
            guard !exists else { return false }
            for name in try names() where JobFileName(name) != .recordLock { try remove("\(path)/\(name)") }
            return true
        }
        if isRemoved { rmdir(path) }
    }

    /// When the folder, or anything directly in it, was last changed, in seconds since 1970. Nil if it has files that
    /// are made after a record, or that no release makes: they may be the rest of a job whose record a user removed.
    private var lastChangeBeforeRecord: Int? {
        guard let names = try? names() else { return nil }
        let isBeginning = names.allSatisfy { name in
            switch JobFileName(name) {
            case .segments, .assemblies, .attempts, .lock, .recordLock, .temporary: true
            default: false
            }
        }
        guard isBeginning else { return nil }
        return ([path] + names.map { "\(path)/\($0)" }).compactMap { (try? Files.entry($0))??.st_mtim.tv_sec }.max()
    }

    private func removeAll() throws(ReelFailure) {
        for name in try names() where JobFileName(name) != .record { try remove("\(path)/\(name)") }
        try remove(path)
    }

    private func remove(_ item: String) throws(ReelFailure) {
        try SystemError.inStore(.remove, item, Files.removeTree(item, beneath: store.root))
    }
}
