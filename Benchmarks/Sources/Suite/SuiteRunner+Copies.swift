extension SuiteRunner {
    static let (copy, syncedCopy) = ("`cp`", "`cp` and `sync`")
    static let verifiedCopy = "`cp`, `sync` and `cmp`"

    /// Copies a file twice, the second time until it is on the disk, and adds what both took under these two names.
    func addCopies(of file: String, to rounds: inout Rounds) async throws {
        let target = work("copied")
        defer { remove(target) }
        rounds.add(SuiteRunner.copy, try await measure("cp", ["cp", file, target]))
        remove(target)
        rounds.add(
            SuiteRunner.syncedCopy,
            try await measure("cp and sync", ["sh", "-c", "cp '\(file)' '\(target)' && sync '\(target)'"]))
    }

    /// Copies a file until it is on the disk and compares the two, and adds what that took under a third name: less is no
    /// verified copy.
    func addVerifiedCopy(of file: String, to rounds: inout Rounds) async throws {
        let target = work("copied")
        defer { remove(target) }
        let commands = "cp '\(file)' '\(target)' && sync '\(target)' && cmp '\(file)' '\(target)'"
        rounds.add(SuiteRunner.verifiedCopy, try await measure("cp, sync and cmp", ["sh", "-c", commands]))
    }
}
