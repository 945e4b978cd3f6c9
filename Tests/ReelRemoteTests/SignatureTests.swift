import Foundation
import ReelCore
import ReelRemote
import ReelStore
import Testing

/// The examples of "Authenticating Requests: Using the Authorization Header" in the API reference of Amazon S3.
@Suite struct SignatureTests {
    private static let keys = Credentials(
        id: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
    private static let host = ("Host", "examplebucket.s3.amazonaws.com")

    private func signature(_ request: RequestSignature.Signed, _ keys: Credentials = keys) throws -> String {
        let day = try Date("2013-05-24T00:00:00Z", strategy: .iso8601)
        let headers = RequestSignature(keys, region: "us-east-1").headers(of: request, at: day)
        #expect(headers.contains { $0 == ("x-amz-date", "20130524T000000Z") })
        let authorization = try #require(headers.first { $0.name == "Authorization" }?.value)
        let scope = "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
        #expect(authorization.hasPrefix(scope))
        return try #require(authorization.split(separator: "Signature=").last.map(String.init))
    }

    @Test func aRangeOfAnObject() throws {
        let request = RequestSignature.Signed(
            "GET", path: "/test.txt", headers: [SignatureTests.host, ("Range", "bytes=0-9")])
        #expect(try signature(request) == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
    }

    @Test func anObjectThatIsWritten() throws {
        let request = RequestSignature.Signed(
            "PUT", path: "/test%24file.text",
            headers: [
                ("x-amz-storage-class", "REDUCED_REDUNDANCY"), SignatureTests.host,
                ("Date", "Fri, 24 May 2013 00:00:00 GMT"),
            ],
            bodyHash: Fingerprint.sha256Hex(Array("Welcome to Amazon S3.".utf8)))
        #expect(try signature(request) == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
    }

    @Test func aQueryWithoutAValue() throws {
        let request = RequestSignature.Signed(
            "GET", path: "/", query: [("lifecycle", "")], headers: [SignatureTests.host])
        #expect(try signature(request) == "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
    }

    @Test func aQueryOfSeveral() throws {
        let request = RequestSignature.Signed(
            "GET", path: "/", query: [("prefix", "J"), ("max-keys", "2")], headers: [SignatureTests.host])
        #expect(try signature(request) == "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
    }

    @Test func aSessionsTokenIsSent() throws {
        var keys = SignatureTests.keys
        keys.token = "of a session"
        let request = RequestSignature.Signed("GET", path: "/", headers: [SignatureTests.host])
        let headers = RequestSignature(keys, region: "us-east-1").headers(of: request, at: Date())
        #expect(headers.contains { $0 == ("x-amz-security-token", "of a session") })
        let signed = headers.last?.value.contains("host;x-amz-content-sha256;x-amz-date;x-amz-security-token, ")
        #expect(signed == true)
        #expect(try signature(request, keys) != signature(request))
    }

    @Test(arguments: [
        ("s3://footage/a.mov", "footage", "a.mov"), ("s3://footage/a b+c=@%~//ü😀.mov", "footage", "a b+c=@%~//ü😀.mov"),
        ("s3://Old_Bucket.x/?.mp4", "Old_Bucket.x", "?.mp4"), ("s3://footage//x", "footage", "/x"),
    ])
    func anAddressHasItsKeyAsItIs(text: String, bucket: String, key: String) throws {
        let address = try ObjectAddress(text)
        #expect(address == ObjectAddress(bucket: bucket, key: key))
        #expect(address.text == text && WebAddress.shown(text) == text)
    }

    @Test(arguments: [
        ("https://host/x", ObjectAddress.Flaw.scheme), ("s3://", .bucket), ("s3://ab/x", .bucket),
        ("s3://-abc/x", .bucket),
        ("s3://a b/x", .bucket), ("s3://footage", .noKey), ("s3://footage/", .noKey),
        ("s3://footage/" + String(repeating: "ü", count: 513), .longKey),
    ])
    func whatIsNoAddressIsRefused(text: String, flaw: ObjectAddress.Flaw) {
        #expect(throws: flaw) { try ObjectAddress(text) }
    }
}
