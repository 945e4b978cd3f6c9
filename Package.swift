// swift-tools-version: 6.2
import PackageDescription

// scripts/test builds with warnings as errors. Not every build does: a newcomer's newer compiler or FFmpeg may warn
// of what this one does not.
let warnings: [SwiftSetting] = Context.environment["REEL_STRICT"] == "1" ? [.treatAllWarnings(as: .error)] : []

let strict: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + warnings

// Tests wait for programs, servers and media; optimizing them took a third of the whole build. The exceptions compute.
let tests = strict + [.unsafeFlags(["-Onone"])]

// The fence of the architecture is this graph: only what depends on ReelMedia may link libav*, only what
// depends on ReelQueue may link hiredis. scripts/check-architecture proves it on the built executables.
let package = Package(
    name: "reel",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "reel-coordinator", targets: ["reel-coordinator"]),
        .executable(name: "reel-worker", targets: ["reel-worker"]),
        .executable(name: "reel-engine", targets: ["reel-engine"]),
        .executable(name: "reel-server", targets: ["reel-server"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-configuration", exact: "1.4.0"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        .package(url: "https://github.com/CoreOffice/XMLCoder", exact: "0.18.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", exact: "1.0.2"),
        .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
    ],
    targets: [
        .systemLibrary(
            name: "CFFmpeg", pkgConfig: "libavfilter libavformat libavcodec libavutil libswscale libswresample",
            providers: [
                .apt([
                    "libavfilter-dev", "libavformat-dev", "libavcodec-dev", "libavutil-dev", "libswscale-dev",
                    "libswresample-dev",
                ])
            ]),
        .systemLibrary(name: "CHiredis", providers: [.apt(["libhiredis-dev"])]),
        .systemLibrary(name: "CSandbox"),

        .target(name: "ReelCore", swiftSettings: strict),
        .target(name: "ReelWords", dependencies: ["ReelCore"], swiftSettings: strict),
        .target(
            name: "ReelMedia",
            dependencies: [
                "ReelCore", "CFFmpeg",
                .product(name: "BasicContainers", package: "swift-collections"),
                .product(name: "Crypto", package: "swift-crypto"),
            ], swiftSettings: strict),
        .target(name: "ReelHost", dependencies: ["ReelCore", "CSandbox"], swiftSettings: strict),
        .target(name: "ReelSandbox", dependencies: ["ReelCore", "CSandbox"], swiftSettings: strict),
        .target(
            name: "ReelEngine",
            dependencies: [
                "ReelCore", "ReelHost", "ReelSandbox", .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ], swiftSettings: strict),
        .target(
            name: "ReelQueue", dependencies: ["CBoardScripts", "CHiredis", "ReelCore"], exclude: ["Scripts"],
            swiftSettings: strict),
        // Connections with TLS to Redis.
        .target(
            name: "ReelTLS",
            dependencies: [
                "ReelCore", "ReelQueue",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
            ], swiftSettings: strict),
        // Sources on web servers, and sources and results in buckets.
        .target(
            name: "ReelRemote",
            dependencies: [
                "ReelCore", "ReelEngine", "ReelHost", "ReelStore", "ReelWords",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "XMLCoder", package: "XMLCoder"),
            ], swiftSettings: strict),
        // The files of ReelQueue/Scripts as one text.
        .target(name: "CBoardScripts"),
        .target(
            name: "ReelStore",
            dependencies: ["ReelCore", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: strict),
        .target(
            name: "ReelJobs",
            dependencies: [
                "ReelCore", "ReelEngine", "ReelHost", "ReelQueue", "ReelStore", "ReelWords",
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ], swiftSettings: strict),
        .target(
            name: "ReelWork",
            dependencies: [
                "ReelCore", "ReelEngine", "ReelHost", "ReelJobs", "ReelQueue", "ReelStore", "ReelWords",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], swiftSettings: strict),
        .target(
            name: "ReelTerminal",
            dependencies: [
                "ReelCore", "ReelEngine", "ReelHost", "ReelJobs", "ReelQueue", "ReelRemote", "ReelStore", "ReelTLS",
                "ReelWords",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ], swiftSettings: strict + [.define("NETWORK")]),

        .target(
            name: "ReelHTTP",
            dependencies: [
                "ReelCore",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], swiftSettings: strict),
        .target(
            name: "ReelServer",
            dependencies: [
                "CServerPages", "ReelCore", "ReelEngine", "ReelHost", "ReelHTTP", "ReelJobs", "ReelQueue", "ReelRemote",
                "ReelSandbox", "ReelStore", "ReelWords",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            exclude: ["Pages"], swiftSettings: strict),
        // The files of ReelServer/Pages.
        .target(name: "CServerPages"),

        .executableTarget(
            name: "reel-coordinator",
            dependencies: [
                "ReelHost", "ReelJobs", "ReelTerminal",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ], swiftSettings: strict),
        .executableTarget(
            name: "reel-worker",
            dependencies: [
                "ReelEngine", "ReelHost", "ReelHTTP", "ReelJobs", "ReelQueue", "ReelStore", "ReelTerminal",
                "ReelWork",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ], swiftSettings: strict + [.define("LISTENS")]),
        .executableTarget(
            name: "reel-engine",
            dependencies: [
                "ReelMedia", "ReelEngine", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: strict),

        .executableTarget(
            name: "reel-server",
            dependencies: [
                "ReelCore", "ReelEngine", "ReelHost", "ReelJobs", "ReelQueue", "ReelRemote", "ReelServer", "ReelStore",
                "ReelTerminal",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ], swiftSettings: strict),

        // Run by the scripts in Benchmarks/, and no product.
        .executableTarget(
            name: "reel-bench",
            dependencies: [
                "ReelBoardModel", "ReelJobs", "ReelQueue", "ReelCore", "ReelEngine", "ReelRandom", "ReelStore",
                "ReelTLS",
                "CProcess",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "HeapModule", package: "swift-collections"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ], path: "Benchmarks/Sources", swiftSettings: strict),
        .systemLibrary(name: "CProcess", path: "Benchmarks/CProcess"),

        // What tests share; benchmarks, which cannot link Testing, draw the same random numbers.
        .target(name: "ReelRandom", path: "Tests/ReelRandom", swiftSettings: strict),
        .target(
            name: "ReelTestSupport", dependencies: ["ReelCore", "ReelRandom"], path: "Tests/ReelTestSupport",
            swiftSettings: strict),
        // What docs/board.md says as a value, and a board made of it: ReelQueueTests compare it with Redis, and
        // ReelWorkTests work on it.
        .target(
            name: "ReelBoardModel", dependencies: ["ReelCore", "ReelQueue"], path: "Tests/ReelBoardModel",
            swiftSettings: strict),
        // A store in memory: ReelStoreTests compare it with the folder, and ReelWorkTests work on it.
        .target(
            name: "ReelMemoryStore", dependencies: ["ReelCore", "ReelStore"], path: "Tests/ReelMemoryStore",
            swiftSettings: strict),
        .testTarget(
            name: "ReelCoreTests", dependencies: ["ReelRandom", "ReelTestSupport", "ReelCore", "ReelWords"],
            exclude: ["Golden"], swiftSettings: strict),
        .testTarget(
            name: "ReelEngineTests",
            dependencies: ["ReelRandom", "ReelTestSupport", "ReelEngine", "ReelCore", "ReelWords"],
            exclude: ["Fixtures", "Golden"], swiftSettings: tests),
        .testTarget(name: "ReelHostTests", dependencies: ["ReelHost"], swiftSettings: tests),
        // An engine that attacks, for tests; it is not a product.
        .executableTarget(
            name: "reel-probe-engine", dependencies: ["CAttack", "ReelCore", "ReelEngine"],
            path: "Tests/ReelProbeEngine", swiftSettings: strict),
        .systemLibrary(name: "CAttack", path: "Tests/CAttack"),
        .testTarget(
            name: "ReelSandboxTests",
            dependencies: ["CAttack", "ReelCore", "ReelEngine", "ReelSandbox", "ReelTestSupport", "reel-probe-engine"],
            swiftSettings: tests),
        .testTarget(
            name: "ReelWordsTests", dependencies: ["ReelTestSupport", "ReelWords", "ReelCore"], exclude: ["Golden"],
            swiftSettings: tests),
        .testTarget(
            name: "ReelStoreTests",
            dependencies: [
                "ReelMemoryStore", "ReelTestSupport", "ReelRemote", "ReelStore", "ReelCore", "ReelWords",
            ],
            exclude: ["Golden"],
            swiftSettings: tests),
        .testTarget(
            name: "ReelQueueTests",
            dependencies: [
                "ReelBoardModel", "ReelRandom", "ReelTestSupport", "ReelQueue", "ReelTLS", "ReelCore", "ReelWords",
            ],
            exclude: ["Golden"],
            swiftSettings: tests),
        .testTarget(
            name: "ReelRemoteTests",
            dependencies: [
                "ReelCore", "ReelEngine", "ReelJobs", "ReelMemoryStore", "ReelRandom", "ReelRemote", "ReelStore",
                "ReelTestSupport", "ReelWords",
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ], swiftSettings: tests),
        .testTarget(
            name: "ReelMediaTests",
            dependencies: [
                "ReelRandom", "ReelTestSupport", "ReelMedia", "ReelCore", "ReelWords",
                .product(name: "Crypto", package: "swift-crypto"),
            ], swiftSettings: strict),
        .testTarget(
            name: "ReelJobsTests",
            dependencies: [
                "ReelRandom", "ReelTestSupport", "ReelCore", "ReelEngine", "ReelJobs", "ReelQueue", "ReelStore",
                "ReelWords",
            ],
            exclude: ["Fixtures"], swiftSettings: tests),
        .testTarget(
            name: "ReelWorkTests",
            dependencies: [
                "ReelBoardModel", "ReelMemoryStore", "ReelRandom", "ReelCore", "ReelEngine", "ReelJobs", "ReelQueue",
                "ReelStore", "ReelWork", .product(name: "Logging", package: "swift-log"),
            ], swiftSettings: tests),
        .testTarget(
            name: "ReelTerminalTests",
            dependencies: [
                "ReelCore", "ReelJobs", "ReelQueue", "ReelStore", "ReelTerminal", "ReelWords",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: tests),
        .testTarget(
            name: "ReelServerTests",
            dependencies: [
                "ReelCore", "ReelEngine", "ReelHost", "ReelHTTP", "ReelJobs", "ReelQueue", "ReelRemote", "ReelServer",
                "ReelStore",
                "ReelTestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ], swiftSettings: tests),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "ReelCore", "ReelEngine", "ReelRandom", "ReelTestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ], exclude: ["Fixtures"],
            swiftSettings: tests),
    ],
    swiftLanguageModes: [.v6]
)

// Only for scripts/test --quick: the pure modules and their tests, which need no other package and no library.
if Context.environment["REEL_QUICK"] == "1" {
    let pure = ["ReelCore", "ReelWords", "ReelRandom", "ReelTestSupport", "ReelCoreTests", "ReelWordsTests"]
    package.targets.removeAll { !pure.contains($0.name) }
    package.products = []
    package.dependencies = []
}

// Only for scripts/reverse: the programs that `run` needs. The server, the worker's answers over HTTP and TLS are left out,
// because their packages take longer to build than all the rest. One `swift build` of everything that remains keeps all
// cores busy. It builds for debugging, which takes half the time; the modules that touch frames are optimized all the same.
if Context.environment["REEL_RUN"] == "1" {
    let network = ["async-http-client", "XMLCoder", "hummingbird", "swift-nio", "swift-nio-ssl"]
    let programs = ["reel-engine", "reel-worker", "reel-coordinator"]
    package.dependencies.removeAll { dependency in
        guard case .sourceControl(_, let location, _) = dependency.kind else { return false }
        return network.contains { location.hasSuffix("/" + $0) }
    }
    package.products.removeAll { !programs.contains($0.name) }
    package.targets.removeAll { target in
        let isOfTests = ["Tests", "Benchmarks"].contains { target.path?.hasPrefix($0) == true }
        return target.type == .test || isOfTests
            || ["CServerPages", "ReelHTTP", "ReelRemote", "ReelServer", "ReelTLS", "reel-server"].contains(target.name)
    }
    for target in package.targets where ["ReelTerminal", "reel-worker"].contains(target.name) {
        target.swiftSettings = strict
        if target.name == "reel-worker" { target.exclude = ["WatchedWorker.swift"] }
        target.dependencies.removeAll { dependency in
            switch dependency {
            case .byNameItem(let name, _), .productItem(let name, _, _, _):
                ["Hummingbird", "ReelHTTP", "ReelRemote", "ReelTLS"].contains(name)
            default: false
            }
        }
    }
    for target in package.targets where ["ReelCore", "ReelMedia"].contains(target.name) {
        target.swiftSettings = strict + [.unsafeFlags(["-O"])]
    }
}

// Only for scripts/fuzz, which builds everything with -sanitize=fuzzer.
if Context.environment["REEL_FUZZ"] == "1" {
    package.targets.append(
        .executableTarget(
            name: "reel-fuzz", dependencies: ["ReelCore", "ReelEngine", "ReelStore"], path: "Tests/Fuzz",
            swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]))
}
