internal import Foundation
package import ReelCore
package import ReelStore

/// What a ``BucketStore`` has of one job. `JobEntry` documents the functions that it requires; comments here cover the
/// specifics of a bucket.
package struct BucketJob: JobEntry {
    package let id: JobID
    let store: BucketStore

    var objects: StoreObjects { store.objects }

    /// The job's folder of this machine, in which engines read and write.
    var local: JobFolder {
        let folder = store.local.job(id)
        store.noteUse(of: folder.path)
        return folder
    }

    /// The name in the bucket of what has a path in the local folder.
    func name(_ path: String) -> String { store.name(of: path) }

    /// What the names of all its objects begin with.
    private var beginning: String { name(store.local.job(id).path) + "/" }
    var recordName: String { name(store.local.job(id).jobFile) }
    private var stageName: String { name(store.local.job(id).stage) + "/" }

    // MARK: The record

    /// Also true if the store does not tell: the caller hears why when it reads the record.
    package var exists: Bool {
        get async {
            do throws(ReelFailure) { return try await objects.exists(recordName) } catch { return true }
        }
    }

    package func read() async throws(ReelFailure) -> JobRecord {
        guard let bytes = try await objects.read(recordName) else {
            throw ReelFailure(.jobUnknownHere(job: id, path: objects.shown(recordName)))
        }
        return try JobRecord.read(bytes, of: id, at: objects.shown(recordName))
    }

    private func whileRecordStays<Answer>(
        _ body: (BucketStore.Turn) async throws(ReelFailure) -> Answer
    ) async throws(ReelFailure) -> Answer {
        try await store.inTurn("record:\(id)", body)
    }

    package func replace(_ read: JobRecord, with changed: JobRecord) async throws(ReelFailure) -> Bool {
        do throws(ReelFailure) {
            return try await whileRecordStays { turn async throws(ReelFailure) in
                guard try await self.read() == read else { return false }
                try await turn.write(AtomicFile.json(of: changed), to: recordName)
                return true
            }
        } catch {
            // Another process may have changed it since: the caller reads it again.
            guard case .storeTurnLost = error.reason else { throw error }
            return false
        }
    }

    package func create(_ record: JobRecord) async throws(ReelFailure) -> Bool {
        try await whileRecordStays { turn async throws(ReelFailure) in
            guard try await !objects.exists(recordName) else { return false }
            try await turn.write(AtomicFile.json(of: record), to: recordName)
            return true
        }
    }

    package func removeParts(keepingSegments: Bool) async throws(ReelFailure) {
        if !keepingSegments { try await objects.removeAll(segments) }
        try await objects.removeAll(stageName)
        try local.removeParts(keepingSegments: false)
    }

    package func giveBackParts() async throws(ReelFailure) {
        do throws(ReelFailure) {
            let found = try await read()
            let hasCopies = found.needsNoCopies && found.sources.contains { $0.staged != nil }
            guard hasCopies || found.needsNoSegments, !store.tidied.contains(found) else { return }
            try await whileRecordStays { turn async throws(ReelFailure) in
                let record = try await read()
                if hasCopies, record.needsNoCopies { try await remove(objects.list(stageName).map(\.key), turn) }
                if record.needsNoSegments { try await remove(objects.list(segments).map(\.key), turn) }
            }
            store.tidied.insert(found)
        } catch {
            guard case .jobUnknownHere = error.reason else { throw error }
        }
    }

    package func removeContents() async throws(ReelFailure) {
        try await objects.removeAll(beginning)
        try local.remove()
    }

    package func remove() async throws(ReelFailure) {
        try await objects.removeAll(beginning, butNot: recordName)
        try await objects.remove([recordName])
        try local.remove()
    }

    package func remove(ifStill read: JobRecord) async throws(ReelFailure) -> Bool {
        try await whileRecordStays { turn async throws(ReelFailure) in
            do throws(ReelFailure) {
                guard try await self.read() == read else { return false }
            } catch {
                guard case .jobUnknownHere = error.reason else { throw error }
                return true
            }
            try await remove(objects.list(beginning).map(\.key).filter { $0 != recordName }, turn)
            try await remove([recordName], turn)
            try local.remove()
            return true
        }
    }

    /// Removes objects as long as no other process has taken the record's lock.
    private func remove(_ names: [String], _ turn: BucketStore.Turn) async throws(ReelFailure) {
        var rest = names[...]
        while !rest.isEmpty {
            try await turn.goOn(to: recordName)
            try await objects.remove(Array(rest.prefix(100)))
            rest = rest.dropFirst(100)
        }
    }

    // MARK: Sources

    private func stageName(_ name: String) -> String { stageName + name }

    /// A copy is read as any object of a bucket is: in the ranges that are needed.
    package func locator(of source: JobSource) -> Locator {
        guard let copy = source.staged else { return source.original }
        let version = WebVersion(size: source.fingerprint.size, tag: nil, modified: nil)
        return .web(objects.shown(stageName(copy)), version)
    }

    package func hasCopy(of source: JobSource) async -> Bool {
        guard let copy = source.staged else { return false }
        do throws(ReelFailure) {
            return try await objects.size(stageName(copy)) == source.fingerprint.size
        } catch {
            // As in `exists`.
            return true
        }
    }

    package func stage(
        _ path: String, as name: String, _ fingerprint: Fingerprint
    ) async throws(ReelFailure) {
        let changed = ReelFailure(.sourceChangedWhileCopied(path: path))
        guard try fingerprint.matches(.file(path)) else { throw changed }
        try await objects.upload(OpenFile(source: path), to: stageName(name)) { bytes, _ throws(ReelFailure) in
            // Another process may have written to it while it was being read.
            guard bytes == fingerprint.size, try fingerprint.matches(.file(path)) else { throw changed }
        }
    }

    package func open(copyOf source: JobSource) async throws(ReelFailure) -> any StoredBytes {
        try await objects.open(stageName(source.staged ?? ""), bytes: source.fingerprint.size)
    }

    // MARK: Plans

    private var planBeginning: String { beginning + "plan." }

    package func planNumbers() async throws(ReelFailure) -> [Int] {
        try await objects.list(planBeginning).compactMap {
            JobFolder.planNumber(String($0.key.dropFirst(beginning.count)))
        }
        .sorted()
    }

    package func writePlan(_ plan: Plan) async throws(ReelFailure) -> Int {
        try await store.inTurn("plan:\(id)") { turn async throws(ReelFailure) in
            var plan = plan
            plan.number = (try await planNumbers().last ?? 0) + 1
            // The list may have come late.
            while try await objects.exists(name(local.plan(plan.number).file)) { plan.number += 1 }
            let bytes = try AtomicFile.json(of: plan)
            try await turn.write(bytes, to: name(local.plan(plan.number).file))
            try await bring(bytes, ofPlan: plan.number)
            return plan.number
        }
    }

    private func bring(_ bytes: [UInt8], ofPlan number: Int) async throws(ReelFailure) {
        try local.create()
        try await LocalFile.write(bytes, to: local.plan(number).file)
    }

    package func readPlan(_ number: Int) async throws(ReelFailure) -> Plan {
        let name = name(local.plan(number).file)
        guard let bytes = try await objects.read(name, mostBytes: Plan.mostBytes) else {
            throw ReelFailure(.storeUnusable(doing: .read, path: objects.shown(name), errno: ENOENT))
        }
        let plan = try Plan.read(bytes, at: objects.shown(name))
        try await bring(bytes, ofPlan: number)
        return plan
    }

    package func latestPlan() async throws(ReelFailure) -> Plan? {
        guard let number = try await planNumbers().last else { return nil }
        return try await readPlan(number)
    }

    package func plan(_ number: Int) -> Locator { local.plan(number) }

    // MARK: Engines

    package func engineFolders() throws(ReelFailure) -> [Locator] { try local.engineFolders() }

    // MARK: Pictures for people

    /// Pictures stay on the machine whose engine has made them: another one makes its own.
    package func picture(_ name: PictureName) -> OpenFile? { local.picture(name) }

    package func place(of picture: PictureName) -> Locator { local.place(of: picture) }

    package func roomForPicture(of most: Int) throws(ReelFailure) -> Locator {
        try local.create()
        return try local.roomForPicture(of: most)
    }

    // MARK: The result

    package func assembling(_ container: Container, token: String) -> Locator {
        local.assembling(container, token: token)
    }

    package func adoptOutput(
        assembledBy token: String, as container: Container, bytes: Int64, sha256: String
    ) async throws(ReelFailure) -> JobResult {
        let wrong = ReelFailure(.engineMisanswered(task: .assemble))
        let assembled = local.assembling(container, token: token)
        let file: OpenFile
        do throws(ReelFailure) { file = try OpenFile(inStore: assembled) } catch { throw wrong }
        let output = local.output(container)
        try await objects.upload(file, to: name(output)) { found, hash throws(ReelFailure) in
            guard found == bytes, hash == sha256 else { throw wrong }
        }
        try? FileManager.default.removeItem(atPath: assembled.file)
        return JobResult(name: URL(filePath: output).lastPathComponent, bytes: bytes, sha256: sha256)
    }

    package var publishedOutput: StoredResult? {
        get async {
            guard let output = (try? await read())?.result.map(stored),
                (try? await objects.size(beginning + output.recorded.name)) == output.recorded.bytes
            else { return nil }
            return output
        }
    }

    private func stored(_ recorded: JobResult) -> StoredResult {
        let version = WebVersion(size: recorded.bytes, tag: nil, modified: nil)
        return StoredResult(
            job: id, locator: .web(objects.shown(beginning + recorded.name), version), recorded: recorded)
    }

    package func storedResult() async throws(ReelFailure) -> StoredResult {
        let record = try await read()
        guard record.state == .done, let result = record.result.map(stored),
            let size = try await objects.size(beginning + result.recorded.name)
        else { throw ReelFailure(.noResult(job: id, state: record.state)) }
        try result.compare(
            bytes: size, sha256: size == result.recorded.bytes ? result.recorded.sha256 : "", at: result.locator.name)
        return result
    }

    package func open(_ result: StoredResult) async throws(ReelFailure) -> any StoredBytes {
        try await objects.open(beginning + result.recorded.name, bytes: result.recorded.bytes)
    }

    package func local(_ result: StoredResult) async throws(ReelFailure) -> StoredResult {
        let recorded = result.recorded
        let path = try await store.fetch(beginning + recorded.name, bytes: recorded.bytes, recorded.sha256)
        return StoredResult(job: id, locator: .file(path), recorded: recorded)
    }

    // MARK: Engines' last words

    package func writeAttempt(pass: Int, token: String, standardError: String) async throws(ReelFailure) {
        try await objects.write(Array(standardError.utf8), to: name(local.attempt(pass: pass, token: token)))
    }

    package func readAttempt(pass: Int, token: String) async -> String? {
        let bytes = try? await objects.read(name(local.attempt(pass: pass, token: token)))
        return bytes.map { String(decoding: $0, as: UTF8.self) }
    }
}
