internal import Foundation

/// How programs for S3 are set up: variables of the environment, and the files of ~/.aws.
///
/// Source: "Settings reference" in the AWS SDKs and Tools Reference Guide.
package struct AWSSettings: Sendable {
    private let environment: [String: String]
    /// As it was at the start.
    private let profile: [String: String]

    package init(_ environment: [String: String] = ProcessInfo.processInfo.environment) {
        let environment = environment.filter { !$0.value.isEmpty }
        self.environment = environment
        profile = AWSSettings.profile(environment)
    }

    /// The settings of the profile that the environment names, from its two files.
    private static func profile(_ environment: [String: String]) -> [String: String] {
        let home = (environment["HOME"] ?? NSHomeDirectory()) + "/.aws/"
        let name = environment["AWS_PROFILE"] ?? "default"
        let files = [
            (environment["AWS_CONFIG_FILE"] ?? home + "config", name == "default" ? name : "profile \(name)"),
            (environment["AWS_SHARED_CREDENTIALS_FILE"] ?? home + "credentials", name),
        ]
        // If both files have a setting, the one in the file of credentials counts.
        return files.reduce(into: [:]) { found, file in
            let text = try? String(contentsOfFile: file.0, encoding: .utf8)
            found.merge(section(file.1, of: text ?? "")) { $1 }
        }
    }

    /// The settings of a section: lines "name = value", comments behind # or ;. Indented lines belong to nested
    /// settings, which reel does not use.
    private static func section(_ wanted: String, of text: String) -> [String: String] {
        var (isWanted, found) = (false, [String: String]())
        for line in text.split(whereSeparator: \.isNewline) where line.first?.isWhitespace == false {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("[") {
                let name = line.dropFirst().prefix { $0 != "]" }.split(whereSeparator: \.isWhitespace)
                isWanted = name.joined(separator: " ") == wanted
            } else if isWanted, line.first != "#", line.first != ";" {
                let parts = line.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
                if parts.count == 2 { found[parts[0].lowercased()] = parts[1] }
            }
        }
        return found
    }

    // MARK: Keys

    var keysOfEnvironment: Credentials? {
        guard let id = environment["AWS_ACCESS_KEY_ID"], let secret = environment["AWS_SECRET_ACCESS_KEY"] else {
            return nil
        }
        return Credentials(id: id, secret: secret, token: environment["AWS_SESSION_TOKEN"])
    }

    /// The keys that the files have now: other programs renew them.
    var keysOfProfile: Credentials? {
        let profile = AWSSettings.profile(environment)
        guard let id = profile["aws_access_key_id"], let secret = profile["aws_secret_access_key"] else { return nil }
        return Credentials(id: id, secret: secret, token: profile["aws_session_token"])
    }

    /// The profile that was asked for; nil if none was.
    var profileNamed: String? { environment["AWS_PROFILE"] }

    /// The file with a pod's token, and the role that it may take on.
    var webIdentity: (file: String, role: String)? {
        guard let file = environment["AWS_WEB_IDENTITY_TOKEN_FILE"] ?? profile["web_identity_token_file"],
            let role = environment["AWS_ROLE_ARN"] ?? profile["role_arn"]
        else { return nil }
        return (file, role)
    }

    var roleSession: String { environment["AWS_ROLE_SESSION_NAME"] ?? "reel" }

    var tokenService: String {
        environment["AWS_ENDPOINT_URL_STS"] ?? environment["AWS_ENDPOINT_URL"] ?? "https://sts.\(region).amazonaws.com/"
    }

    /// The service that gives keys to a container, and what authorizes it to ask. Throws a `CredentialFault` if the file
    /// that has it cannot be read.
    var containerService: (url: String, authorization: String?)? {
        get throws {
            if let path = environment["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] {
                return ("http://169.254.170.2\(path)", environment["AWS_CONTAINER_AUTHORIZATION_TOKEN"])
            }
            guard let url = environment["AWS_CONTAINER_CREDENTIALS_FULL_URI"] else { return nil }
            guard let file = environment["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] else {
                return (url, environment["AWS_CONTAINER_AUTHORIZATION_TOKEN"])
            }
            guard let token = try? String(contentsOfFile: file, encoding: .utf8) else {
                throw CredentialFault(said: "\(file) of AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE cannot be read")
            }
            return (url, token.trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }

    /// Nil if the instance's service is not to be asked.
    var instanceService: String? {
        if environment["AWS_EC2_METADATA_DISABLED"]?.lowercased() == "true" { return nil }
        return environment["AWS_EC2_METADATA_SERVICE_ENDPOINT"] ?? "http://169.254.169.254"
    }

    // MARK: The store

    var region: String {
        environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"] ?? profile["region"] ?? "us-east-1"
    }

    /// The address of a store other than Amazon's; nil for Amazon's.
    var endpoint: String? {
        environment["AWS_ENDPOINT_URL_S3"] ?? environment["AWS_ENDPOINT_URL"] ?? profile["endpoint_url"]
    }

    /// The file with the certificates of authorities to trust.
    var authorities: String? { environment["AWS_CA_BUNDLE"] ?? profile["ca_bundle"] }
}
