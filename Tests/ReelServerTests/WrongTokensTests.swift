import ReelServer
import Testing

/// Wrong tokens from one address, and from more addresses than are told apart.
@Suite struct WrongTokensTests {
    private let start = ContinuousClock.now

    @Test func anAddressWaitsUntilItsFirstWrongTokenIsAMinuteOld() {
        var tokens = WrongTokens()
        for second in 0..<WrongTokens.most {
            #expect(tokens.note(from: "192.0.2.1", at: start + .seconds(second)) == nil)
        }
        #expect(tokens.note(from: "192.0.2.1", at: start + .seconds(20)) == .seconds(40))
        #expect(tokens.note(from: "192.0.2.2", at: start + .seconds(20)) == nil)
        #expect(tokens.note(from: "192.0.2.1", at: start + .seconds(60)) == nil)
        #expect(tokens.note(from: "192.0.2.1", at: start + .seconds(60)) == .seconds(1))
    }

    @Test func theAddressesOfANetworkOfVersionSixAreOne() {
        var tokens = WrongTokens()
        for number in 0..<WrongTokens.most {
            #expect(tokens.note(from: "2001:db8:1:2::\(number)", at: start) == nil)
        }
        #expect(tokens.note(from: "2001:db8:1:2:ffff::1", at: start) == .seconds(60))
        #expect(tokens.note(from: "2001:db8:1:3::1", at: start) == nil)
    }

    @Test func furtherAddressesWaitWhileThereAreTooMany() {
        var tokens = WrongTokens()
        for number in 0..<WrongTokens.mostAddresses {
            #expect(tokens.note(from: "10.\(number / 65536).\(number / 256 % 256).\(number % 256)", at: start) == nil)
        }
        #expect(tokens.note(from: "192.0.2.1", at: start + .seconds(1)) != nil)
        // Nobody disturbs the addresses that are told apart, and the others wait only while those are recent.
        #expect(tokens.note(from: "10.0.0.1", at: start + .seconds(1)) == nil)
        #expect(tokens.note(from: "192.0.2.1", at: start + .seconds(62)) == nil)
    }
}
