import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import ReelHTTP
import Testing

/// Connections that their other side only holds. Time is made up.
@Suite struct ConnectionGuardTests {
    private let channel = EmbeddedChannel(handler: ConnectionGuard())

    private func request(_ headers: HTTPFields = [:]) -> HTTPRequestPart {
        .head(HTTPRequest(method: .put, scheme: "http", authority: "a", path: "/", headerFields: headers))
    }

    private func answer() throws {
        try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .unauthorized)))
        try channel.writeOutbound(HTTPResponsePart.end(nil))
    }

    private func connect() throws { try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait() }

    @Test func aCallerThatWaitsIsToldToGoOn() throws {
        try connect()
        try channel.writeInbound(request([.expect: "100-continue"]))
        let first = try #require(try channel.readOutbound(as: HTTPResponsePart.self))
        guard case .head(let head) = first else {
            Issue.record("\(first)")
            return
        }
        #expect(head.status == .continue)
        #expect(try channel.readInbound(as: HTTPRequestPart.self) == request([.expect: "100-continue"]))
        try channel.writeInbound(request())
        #expect(try channel.readOutbound(as: HTTPResponsePart.self) == nil)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    @Test func aBodyThatGoesOnAfterTheAnswerEndsTheConnection() throws {
        try connect()
        try channel.writeInbound(request())
        try answer()
        for _ in 0..<9 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(string: "x")))
        }
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func aBodyThatEndsSoonKeepsTheConnection() throws {
        try connect()
        try channel.writeInbound(request())
        try answer()
        try channel.writeInbound(HTTPRequestPart.end(nil))
        try channel.writeInbound(request())
        try channel.writeInbound(HTTPRequestPart.end(nil))
        try answer()
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(channel.isActive)
        _ = try channel.finish()
    }

    @Test func aConnectionWithoutARequestEnds() throws {
        try connect()
        channel.embeddedEventLoop.advanceTime(by: ConnectionGuard.head - .seconds(1))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func aConnectionWithARequestIsKept() throws {
        try connect()
        channel.embeddedEventLoop.advanceTime(by: ConnectionGuard.head - .seconds(1))
        try channel.writeInbound(request())
        try channel.writeInbound(HTTPRequestPart.end(nil))
        channel.embeddedEventLoop.advanceTime(by: .minutes(10))
        try answer()
        // Until the next request the server's idle timeout counts.
        channel.embeddedEventLoop.advanceTime(by: .minutes(10))
        #expect(channel.isActive)
        _ = try channel.finish()
    }

    @Test func aCallerThatTakesNothingEndsTheConnection() throws {
        try connect()
        try channel.writeInbound(request())
        channel.isWritable = false
        channel.pipeline.fireChannelWritabilityChanged()
        channel.embeddedEventLoop.advanceTime(by: .seconds(59))
        #expect(channel.isActive)
        // It takes a little.
        channel.isWritable = true
        channel.pipeline.fireChannelWritabilityChanged()
        channel.isWritable = false
        channel.pipeline.fireChannelWritabilityChanged()
        channel.embeddedEventLoop.advanceTime(by: .seconds(59))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }
}
