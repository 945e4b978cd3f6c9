internal import Foundation
internal import ReelCore
internal import Synchronization

/// The sentinels that watch over a master and its replicas. They say which server is the master, and when another one
/// takes over: then connections to the old one end, which may be frozen and may not have closed them.
///
/// Source: https://redis.io/docs/latest/develop/reference/sentinel-clients/
final class Sentinels: Sendable, CustomStringConvertible {
    private let master: String
    private let hosts: [HostPort]
    private let login: RedisLogin
    private let security: RedisAddress.Security?
    private let state: Mutex<State>

    private struct State {
        /// The sentinels in the order in which they are asked: the one that answered last comes first.
        var order: [HostPort]
        var lines: [Int: Line] = [:]
        var nextLine = 0
        var isWatched = false
    }

    /// A connection to a master.
    private struct Line {
        let descriptor: CInt
        let server: HostPort
    }

    init(of master: String, at hosts: [HostPort], _ login: RedisLogin, _ security: RedisAddress.Security?) {
        (self.master, self.hosts, self.login, self.security) = (master, hosts, login, security)
        state = Mutex(State(order: hosts))
    }

    var description: String { hosts.map(\.description).joined(separator: ",") + "/" + master }

    // MARK: The master

    /// How long one sentinel may take to accept a connection, and to answer. It should be short, since the next one may
    /// know the answer.
    private static let patience = Duration.seconds(1)
    /// The longest time from the last release of the sentinels until the watch ends.
    private static let step = Duration.seconds(1)
    /// After this time without a message the watch asks its sentinel for a sign of life, and leaves it after twice this
    /// time: for so long a process may go on with a master that has been replaced.
    private static let silence = Duration.seconds(2)

    /// Asks the sentinels, one after the other, which server is the master.
    func findMaster() throws(ConnectionError) -> HostPort {
        var (reasons, know): ([String], Int) = ([], 0)
        for host in state.withLock({ $0.order }) {
            do throws(ConnectionError) {
                let sentinel = try connect(to: host)
                let reply = try sentinel.send([["SENTINEL", "GET-MASTER-ADDR-BY-NAME", master]])[0]
                if case .error(let said) = reply { throw ConnectionError(message: said) }
                let parts = reply.array?.compactMap(\.string) ?? []
                if parts.count == 2, let port = Int(parts[1]) {
                    prefer(host)
                    return HostPort(host: parts[0], port: port)
                }
                know += 1
                reasons.append("\(host) knows no master \(master)")
            } catch {
                reasons.append("\(host): \(error.message)")
            }
        }
        // It may be that sentinels have just started, but not that all of them have another configuration.
        let cause = know == hosts.count ? FailureCause.permanent : .transient
        throw ConnectionError(message: "no sentinel names the master: " + reasons.joined(separator: "; "), cause: cause)
    }

    private func prefer(_ host: HostPort) {
        state.withLock { state in
            state.order.removeAll { $0 == host }
            state.order.insert(host, at: 0)
        }
    }

    /// The sentinel is silent: it is asked after the others.
    private func avoid(_ host: HostPort) {
        state.withLock { state in
            state.order.removeAll { $0 == host }
            state.order.append(host)
        }
    }

    /// A connection to a sentinel. One that wants a password gets the one of the servers.
    private func connect(to host: HostPort) throws(ConnectionError) -> RedisConnection {
        let sentinel = try RedisConnection(
            host, security, connectTimeout: Sentinels.patience, answerTimeout: Sentinels.patience)
        guard case .error(let said) = try sentinel.send([["PING"]])[0], said.hasPrefix("NOAUTH"),
            let command = login.command
        else { return sentinel }
        if case .error(let said) = try sentinel.send([command])[0] { throw ConnectionError(message: said) }
        return sentinel
    }

    // MARK: Its connections

    /// Ends the connection as soon as the sentinels name another master than this server.
    func watch(_ connection: RedisConnection, to server: HostPort) {
        let (line, startsWatch) = state.withLock { state in
            state.nextLine += 1
            state.lines[state.nextLine] = Line(descriptor: connection.descriptor, server: server)
            defer { state.isWatched = true }
            return (state.nextLine, !state.isWatched)
        }
        connection.closing = { self.state.withLock { $0.lines[line] = nil } }
        if startsWatch { startWatch() }
    }

    /// Ends all connections to other servers than the master.
    private func leaveAll(but master: HostPort) {
        // Under the lock, so that no descriptor is closed, and becomes another connection's, in between.
        state.withLock { state in
            for line in state.lines.values where line.server != master { shutdown(line.descriptor, Int32(SHUT_RDWR)) }
        }
    }

    // MARK: The watch

    /// A connection to a sentinel that reports changes of masters.
    private struct Feed {
        let host: HostPort
        let connection: RedisConnection
        var heard = ContinuousClock.now
        var isAsked = false
    }

    /// Starts the thread that listens to one sentinel, and to another if that one fails. It ends when the last reference to
    /// this object has been released.
    private func startWatch() {
        let thread = Thread { [weak self] in
            var feed: Feed?
            while true {
                // Nothing holds the sentinels while this waits.
                var message: Reply?
                if let open = feed {
                    do throws(ConnectionError) {
                        message = try open.connection.message(within: Sentinels.step)
                    } catch {
                        feed = nil
                    }
                } else {
                    Thread.sleep(forTimeInterval: 0.2)
                }
                guard let self else { return }
                feed = self.next(feed, after: message)
            }
        }
        thread.name = "sentinels"
        thread.start()
    }

    /// What the watch goes on with, after a message or a step without one.
    private func next(_ feed: Feed?, after message: Reply?) -> Feed? {
        guard var feed else { return subscribe() }
        if let message {
            if let server = newMaster(in: message) { leaveAll(but: server) }
            (feed.heard, feed.isAsked) = (.now, false)
        } else if feed.heard.duration(to: .now) > Sentinels.silence * 2 {
            avoid(feed.host)
            return nil
        } else if feed.heard.duration(to: .now) > Sentinels.silence, !feed.isAsked {
            guard (try? feed.connection.ask(["PING"])) != nil else { return nil }
            feed.isAsked = true
        }
        return feed
    }

    private func subscribe() -> Feed? {
        for host in state.withLock({ $0.order }) {
            do throws(ConnectionError) {
                let sentinel = try connect(to: host)
                let reply = try sentinel.send([["SUBSCRIBE", "+switch-master"]])[0]
                guard case .array = reply else { continue }
                // What was said before it listened is known to the sentinels.
                leaveAll(but: try findMaster())
                return Feed(host: host, connection: sentinel)
            } catch {
                continue
            }
        }
        return nil
    }

    /// The server that became this master, if the message says so: its last part is
    /// `MASTER OLD-HOST OLD-PORT NEW-HOST NEW-PORT`.
    private func newMaster(in message: Reply) -> HostPort? {
        guard let parts = message.array?.map(\.string), parts.count == 3, parts[0] == "message",
            let words = parts[2]?.split(separator: " "), words.count == 5, words[0] == master, let port = Int(words[4])
        else { return nil }
        return HostPort(host: String(words[3]), port: port)
    }
}

extension RedisAddress {
    /// Connects to the Redis, or to the master that its sentinels name, and logs in.
    ///
    /// - Parameter name: the connection's name in Redis's list of clients.
    func connect(named name: String, _ timing: BoardTiming) throws(ConnectionError) -> RedisConnection {
        let (connectTimeout, answerTimeout) = (timing.connectTimeout, timing.answerTimeout)
        switch endpoint {
        case .unix(let path):
            let made = try RedisConnection(
                socket: path, connectTimeout: connectTimeout, answerTimeout: answerTimeout)
            try greet(made, name)
            return made
        case .tcp(let host):
            let made = try RedisConnection(
                host, security, connectTimeout: connectTimeout, answerTimeout: answerTimeout)
            try greet(made, name)
            return made
        case .sentinels(let sentinels):
            let server = try sentinels.findMaster()
            let made = try RedisConnection(
                server, security, connectTimeout: connectTimeout, answerTimeout: answerTimeout)
            sentinels.watch(made, to: server)
            try greet(made, name)
            // A sentinel that was cut off from the others may name a server that they have replaced.
            let reply = try made.send([["ROLE"]])[0]
            if case .error(let said) = reply {
                throw ConnectionError(message: said, cause: FailureCause(ofRefusal: said))
            }
            guard reply.array?.first?.string == "master" else {
                throw ConnectionError(message: "\(server) is not the master")
            }
            return made
        }
    }

    private func greet(_ connection: RedisConnection, _ name: String) throws(ConnectionError) {
        var greeting = [RedisLogin(user: user, password: password).command].compactMap(\.self)
        if database != 0 { greeting.append(["SELECT", String(database)]) }
        greeting.append(["CLIENT", "SETNAME", name])
        for command in greeting {
            if case .error(let said) = try connection.send([command])[0] {
                throw ConnectionError(message: said, cause: FailureCause(ofRefusal: said))
            }
        }
    }
}

extension FailureCause {
    /// The failure cause of an error of Redis, by the word with which the message begins.
    init(ofRefusal message: String) {
        let passing = [
            "LOADING", "BUSY", "OOM", "MISCONF", "READONLY", "MASTERDOWN", "NOREPLICAS", "CLUSTERDOWN", "UNBLOCKED",
        ]
        self = passing.contains { message.hasPrefix($0) } ? .transient : .permanent
    }
}
