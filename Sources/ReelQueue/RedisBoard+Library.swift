package import ReelCore

extension RedisBoard {
    /// Loads the board's functions into a Redis that has none, or older ones. Every call that changes the board does so
    /// by itself if its user may load functions; call this as such a user if the other users may not.
    ///
    /// Throws `.boardUnprepared` if the user may not load functions. Newer functions are not replaced: throws
    /// `.boardOfNewerRelease` unless they serve this program.
    ///
    /// - Returns: whether functions were loaded.
    @discardableResult
    package func prepare() throws(ReelFailure) -> Bool {
        if let found = try libraryVersion(), found > Library.version {
            // Any call throws if they do not serve this program. No job has this id.
            _ = try call(Command.Status(job: JobID("-")))
            return false
        }
        return try provide(replacing: true)
    }

    /// Loads the functions if Redis has none, or if it has older ones and these may be replaced.
    ///
    /// - Parameter replacing: whether older functions are replaced. If not, older functions throw `.boardUnprepared`.
    /// - Returns: whether functions were loaded.
    @discardableResult
    func provide(replacing: Bool) throws(ReelFailure) -> Bool {
        let found = try libraryVersion()
        if found == Library.version { return false }
        if let found, found > Library.version {
            throw ReelFailure(.boardOfNewerRelease(found: found, known: Library.version))
        }
        let unprepared = ReelFailure(.boardUnprepared(found: found, known: Library.version))
        if found != nil, !replacing { throw unprepared }
        do throws(ReelFailure) {
            try send(["FUNCTION", "LOAD"] + (found == nil ? [] : ["REPLACE"]) + [Library.text])
        } catch {
            guard case .redisRefused(_, let said, _) = error.reason else { throw error }
            if said.hasPrefix("NOPERM") { throw unprepared }
            // Another program has loaded them meanwhile.
            if said.contains("already exists") { return false }
            throw error
        }
        return true
    }

    /// The version of the functions that Redis has; nil if it has none.
    func libraryVersion() throws(ReelFailure) -> Int? {
        do throws(ReelFailure) {
            let reply = try send(["FCALL_RO", "\(Library.name)_version", "0"])
            guard let version = reply.integer else { throw reply.surprise }
            return version
        } catch {
            guard case .redisRefused(_, let said, _) = error.reason,
                Library.Mismatch(said) == .unknownFunction
            else { throw error }
            return nil
        }
    }
}
