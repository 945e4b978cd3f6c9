internal import ArgumentParser
internal import ReelCore
internal import ReelJobs
internal import ReelStore
internal import ReelTerminal

/// Makes a store.
struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Make a store, for workers and those who submit to share; prints its id.",
        discussion: """
            A folder that is made is open to its group and to nobody else (mode 2770). One that exists keeps its mode; a \
            store stays as it is.
            """)

    @OptionGroup var store: StoreOption

    func run() throws {
        let made = try store.make()
        guard let id = made.id else { throw ReelFailure(.storeMissing(path: made.root)) }
        console.say("\(made.root) is a store")
        console.result(id.text)
    }
}
