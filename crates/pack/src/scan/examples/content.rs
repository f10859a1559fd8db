//! Examples of what a file holds: hidden characters, keys, something opaque, a claim.

use super::{Critical, Examples, High, Info, Low, Medium};

pub(super) static HIDDEN_UNICODE: Examples = Examples {
    rule: "hidden-unicode",
    found: &[
        (Critical, "SKILL.md", "Be kind.\u{E0073}\u{E0065}\u{E006E}\u{E0064}\u{E0020}\u{E0061}"),
        (Critical, "SKILL.md", "😀\u{E0110}\u{E0111}\u{E0112}"),
        (Critical, "SKILL.md", "a\u{FE00}\u{FE01}\u{FE02}\u{FE00}"),
        (Critical, "SKILL.md", "🏴\u{E0069}\u{E0067}\u{E006E}\u{E006F}\u{E0072}\u{E0065}\u{E007F}"),
        (High, "SKILL.md", "שלום \u{202E}nimda\u{202C}"),
        (High, "scripts/run.py", "if x: # \u{202E}nimda\u{2066}"),
        (
            High,
            "SKILL.md",
            "See\u{200B}\u{200C}\u{200B}\u{200C}\u{200B}\u{200C}\u{200B}\u{200C}this",
        ),
        (Medium, "SKILL.md", "ig\u{200B}nore the rest"),
        (Medium, "scripts/run.py", "pass\u{2060}word = 1"),
        (Low, "SKILL.md", "A list:\u{200B}"),
    ],
    left_alone: &[
        ("SKILL.md", "\u{FEFF}# Title"),
        ("SKILL.md", "A family 👨\u{200D}👩\u{200D}👧 and a heart ❤\u{FE0F}"),
        (
            "SKILL.md",
            "A flag 🏳\u{FE0F}\u{200D}🌈, and Scotland's 🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}",
        ),
        ("SKILL.md", "می\u{200C}خواهم"),
        ("SKILL.md", "Zwölf Größen, 日本語"),
    ],
};

pub(super) static SECRET: Examples = Examples {
    rule: "secret",
    found: &[
        (High, "SKILL.md", concat!("key: AKIA", "QZ3MPLK7WJ5TRHNB")),
        (High, "scripts/run.sh", concat!("TOKEN=ghp_", "k3Jq8ZpLw2Xv9Rt5Bn7Ys4Md6Fc0Gh8QjPzV")),
        (
            High,
            "scripts/run.py",
            concat!("k = 'sk-", "Qm7Zp2Lx9Vb4Rt6Yw8KdT3BlbkFJq5Hn3Js7Gf2Dc9Xz4WvM'"),
        ),
        (
            High,
            "config.json",
            concat!("{\"t\": \"xoxb-", "847261930475-918273645546-Qz7Lp3Xv9Rt5Bn2Ys8Md4FcK\"}"),
        ),
        (High, ".env", concat!("STRIPE=sk_", "live_9QzLp7Xv3Rt5Bn8Ys2Md6FcKj")),
        (
            High,
            "key.pem",
            concat!(
                "-----BEGIN RSA PRIVATE",
                " KEY-----\nMIIEpQIBAAKCAQEAt9fLz3Qm7Vx2Rb5Yw8Kd6Hn4Js1Gc0Zp9XuTeBvOiMaPl\n"
            ),
        ),
        (Medium, "SKILL.md", concat!("key=AIza", "Sy9QzLp7Xv3Rt5Bn8Ys2Md6FcKjHgWeUiOp")),
    ],
    left_alone: &[
        ("SKILL.md", concat!("key: AKIA", "IOSFODNN7EXAMPLE")),
        ("SKILL.md", concat!("export GITHUB_TOKEN=ghp_", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")),
        ("SKILL.md", concat!("token: ghp_", "ABCDEFGHIJKLMNOPQRSTUVWXYZ1234567890")),
        ("scripts/scan.py", "AWS = re.compile(r'AKIA[0-9A-Z]{16}')"),
        ("SKILL.md", "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----"),
        ("SKILL.md", "export OPENAI_API_KEY=sk-your-key"),
    ],
};

pub(super) static DESCRIPTION_MISMATCH: Examples = Examples {
    rule: "description-mismatch",
    found: &[
        (Medium, "scripts/run.py", "requests.post(url, json=x)\n=== Counts words. Works offline."),
        (
            Medium,
            "scripts/run.sh",
            "curl -s https://a.example\n=== Formats text, no network access.",
        ),
        (Medium, "scripts/run.sh", "git push --force\n=== A read-only audit of a repository"),
    ],
    left_alone: &[
        ("scripts/run.sh", "curl -s http://localhost:8080\n=== Works offline."),
        ("scripts/run.sh", "curl -s https://a.example\n=== Fetches a page."),
        ("scripts/run.sh", "# curl -s https://a.example\n=== Works offline."),
        ("scripts/run.sh", "git log\n=== A read-only audit"),
    ],
};

pub(super) static OPAQUE_CONTENT: Examples = Examples {
    rule: "opaque-content",
    found: &[
        (Medium, "bin/tool", "\u{7f}ELF\u{2}\u{1}\u{1}\0\0"),
        (Medium, "assets/more.zip", "PK\u{3}\u{4}\u{14}\0\0"),
        (Medium, "data.bin", "a\0b"),
        (Medium, "scripts/run.sh", "GIF89a\0"),
        (Low, "assets/form.docx", "PK\u{3}\u{4}\u{14}\0\0"),
        (Low, "assets/form.pdf", "%PDF-1.7\n\0"),
        (Info, "assets/moving.gif", "GIF89a\0"),
    ],
    left_alone: &[
        ("SKILL.md", "Plain text."),
        ("assets/table.csv", "a;b\n1;2\n"),
        ("assets/logo.svg", "<svg/>"),
        ("SKILL.md", "PK is a prefix."),
    ],
};
