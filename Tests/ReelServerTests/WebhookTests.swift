import Foundation
import ReelRemote
import ReelServer
import Testing

/// Which URLs are webhooks, where they may lead, and how messages are signed.
@Suite struct WebURLTests {
    @Test(
        arguments: [
            ("https://a.example", "https://a.example", "a.example", 443),
            ("HTTPS://A.Example/Path?Q=%41", "https://a.example/Path?Q=%41", "a.example", 443),
            ("http://a-1.b:8080/x?y", "http://a-1.b:8080/x?y", "a-1.b", 8080),
            ("https://a.example?x=@y", "https://a.example?x=@y", "a.example", 443),
            ("http://8.8.8.8:1/", "http://8.8.8.8:1/", "8.8.8.8", 1),
            ("http://[2606:4700::1111]/", "http://[2606:4700::1111]/", "2606:4700:0:0:0:0:0:1111", 80),
            (
                "http://[2606:4700::1.2.3.4]:65535/", "http://[2606:4700::1.2.3.4]:65535/", "2606:4700:0:0:0:0:102:304",
                65535
            ),
            ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/", "xn--bcher-kva.example", 443),
        ] as [(String, String, String, Int)])
    func aWebhookHasOneForm(_ text: String, _ form: String, _ host: String, _ port: Int) throws {
        let url = try WebURL(text)
        #expect(url.text == form)
        #expect(url.port == port)
        switch url.host {
        case .name(let name): #expect(name == host)
        case .address(let address): #expect("\(address)" == host)
        }
        // Its form is one of itself.
        #expect(try WebURL(url.text) == url)
    }

    @Test(
        arguments: [
            ("ftp://a.example/", .scheme), ("a.example/hook", .scheme), ("https:a.example", .scheme), ("", .scheme),
            ("file:///etc/passwd", .scheme), ("https://user:pass@a.example/", .user), ("https://@a.example/", .user),
            ("https://a.example/#x", .fragment), ("https://a.example/ x", .characters),
            ("https://a.example/\"", .characters), ("https://a.example\\@b.example/", .characters),
            ("https://bücher.example/", .characters), ("https://a.example/\n", .characters),
            ("https://a.example/{1,2}", .characters), ("https:///hook", .host), ("https://a..example/", .host),
            ("https://a.example./", .host), ("https://-a.example/", .host), ("https://a_b.example/", .host),
            ("https://127.1/", .host), ("https://2130706433/", .host), ("https://0x7f000001/", .host),
            ("https://0177.0.0.1/", .host), ("https://127.0.0.01/", .host), ("https://1.2.3.4.5/", .host),
            ("https://a.0x7f/", .host), ("https://256.1.1.1/", .host), ("https://[::1%25eth0]/", .host),
            ("https://[1::2::3]/", .host), ("https://[:::]/", .host), ("https://[1:2:3:4:5:6:7]/", .host),
            ("https://[1:2:3:4:5:6:7:8:9]/", .host), ("https://[127.0.0.1]/", .host), ("https://::1/", .host),
            ("https://[::1]x/", .host), ("https://a.example:/", .port), ("https://a.example:0/", .port),
            ("https://a.example:65536/", .port), ("https://a.example:80:80/", .port), ("https://a.example:+80/", .port),
            ("https://a.example/" + String(repeating: "x", count: 1983), .long),
        ] as [(String, WebURL.Flaw)])
    func anythingElseIsNone(_ text: String, _ flaw: WebURL.Flaw) {
        #expect(throws: flaw) { try WebURL(text) }
    }

    @Test func theLogNamesNeitherPathNorQuery() throws {
        #expect(try WebURL("https://a.example:8443/secret/x?key=y").origin == "https://a.example:8443")
        #expect(try WebURL("https://a.example?key=y").origin == "https://a.example")
    }
}

/// Which addresses are public.
@Suite struct IPAddressTests {
    @Test(arguments: [
        "0.0.0.0", "0.255.255.255", "10.0.0.1", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1",
        "127.255.255.255", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1",
        "192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255",
        "240.0.0.1", "255.255.255.255", "::", "::1", "::10.0.0.1", "::8.8.8.8", "::ffff:127.0.0.1", "::ffff:a00:1",
        "64:ff9b::10.0.0.1", "64:ff9b:1::8.8.8.8", "100::1", "fc00::1", "fd12:3456::1", "fe80::1", "febf::1", "fec0::1",
        "ff02::1", "2001::1", "2001:1ff::1", "2001:db8::1", "2002:a00:1::", "2002:808:808::", "3fff::1", "4000::1",
        "5f00::1",
    ])
    func theseAreNot(_ text: String) throws { #expect(try !#require(IPAddress(text)).isPublic) }

    @Test(arguments: [
        "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.1", "169.253.255.255", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255", "192.169.0.0",
        "198.17.255.255", "198.20.0.0", "223.255.255.255", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2001:200::1",
        "2001:4860:4860::8888", "2003::1", "2606:4700::1111", "3ffe::1",
    ])
    func theseAre(_ text: String) throws { #expect(try #require(IPAddress(text)).isPublic) }

    @Test func everyAddressOfTheInternetIsInOneOfTheRangesOrNone() throws {
        // The first byte of all public ones; neighbours of what is refused as a whole.
        let special: Set<Int> = [0, 10, 127]
        for first in 0...255 {
            let address = try #require(IPAddress("\(first).7.7.7"))
            #expect(address.isPublic == (!special.contains(first) && first < 224), "\(address)")
        }
    }

    @Test func networksContainWhatBeginsAlike() throws {
        for (network, inside, outside) in [
            ("10.0.0.0/8", "10.255.0.1", "11.0.0.0"), ("10.1.2.3/8", "10.9.9.9", "9.0.0.0"),
            ("192.168.4.0/22", "192.168.7.255", "192.168.8.0"), ("127.0.0.1", "127.0.0.1", "127.0.0.2"),
            ("fd00::/8", "fdff::1", "fc00::1"), ("::/0", "2001:db8::1", "10.0.0.1"),
            ("0.0.0.0/0", "10.0.0.1", "fd00::1"),
        ] {
            let network = try #require(IPNetwork(network))
            #expect(network.contains(try #require(IPAddress(inside))), "\(network)")
            #expect(!network.contains(try #require(IPAddress(outside))), "\(network)")
        }
        for text in ["10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/", "10.0.0/8", "::/129", "x/8", "/8", ""] {
            #expect(IPNetwork(text) == nil, "\(text)")
        }
    }
}

/// What a server sends and to whom.
@Suite struct WebhookPolicyTests {
    @Test func privateAddressesNeedToBeNamed() throws {
        let allowed = try ["Hooks.internal", "10.0.0.0/8", "fd00::1"].map { try #require(AllowedHost($0)) }
        let policy = WebhookPolicy(secret: WebhookSecret("0123456789abcdef"), allowed: allowed)
        func admits(_ address: String, _ host: WebURL.Host) throws -> Bool {
            policy.admits(try #require(IPAddress(address)), of: host)
        }
        let other = WebURL.Host.name("other.internal")
        #expect(try admits("127.0.0.1", .name("hooks.internal")))
        #expect(try !admits("127.0.0.1", other))
        #expect(try admits("10.1.1.1", other))
        #expect(try admits("::ffff:10.1.1.1", other))
        #expect(try admits("fd00::1", other))
        #expect(try !admits("fd00::2", other))
        #expect(try admits("8.8.8.8", other))
        #expect(policy.admits(try WebURL("https://localhost/")))
        #expect(policy.admits(try WebURL("https://10.2.3.4/")))
        #expect(!policy.admits(try WebURL("https://192.168.0.1/")))
        for text in ["", "a b", "http://x", "10.0.0.0/33", "a.example/x", "127.1", "*.internal", "a:80", "[::1]"] {
            #expect(AllowedHost(text) == nil, "\(text)")
        }
    }

    /// The value is that of `printf '1700000000.{"id":"a1"}' | openssl dgst -sha256 -hmac 0123456789abcdef`.
    @Test func theSignatureIsThatOfTimeAndBody() {
        let signature = WebhookSecret("0123456789abcdef").signature(of: Data(#"{"id":"a1"}"#.utf8), at: 1_700_000_000)
        #expect(signature == "t=1700000000,v1=beba5e9e4fea50cdc4d9ed334d6d5c20945cdf815c260e81af5c2b5de71125cc")
    }

    @Test func curlIsToldTheAddressesAndNothingThatItCouldMisread() throws {
        let message = Curl.Message(
            url: try WebURL("https://a.example/x?y=[1]"),
            addresses: try ["192.0.2.1", "2001:db8::1"].map { try #require(IPAddress($0)) },
            fields: [("Reel-Event", "job.done")], body: Data(), limit: 30)
        let lines = Curl.configuration(of: message).split(separator: "\n").map(String.init)
        for line in [
            #"url = "https://a.example/x?y=[1]""#, #"proto = "=https""#, #"noproxy = "*""#, "max-time = 30", "globoff",
            #"resolve = "a.example:443:192.0.2.1,[2001:db8:0:0:0:0:0:1]""#, #"header = "Reel-Event: job.done""#,
        ] {
            #expect(lines.contains(line), "\(line)")
        }
        #expect(!lines.contains { $0.hasPrefix("location") })
        var literal = message
        literal.url = try WebURL("http://192.0.2.1:8080/")
        #expect(!Curl.configuration(of: literal).contains("resolve"))
    }
}
