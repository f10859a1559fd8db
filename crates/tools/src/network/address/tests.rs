use super::is_public;

fn check(addresses: &[&str], expected: bool) {
    for address in addresses {
        assert_eq!(is_public(address.parse().unwrap()), expected, "{address}");
    }
}

#[test]
fn addresses_of_the_internet_are_public() {
    check(
        &[
            "1.1.1.1",
            "93.184.216.34",
            "172.15.0.1",
            "172.32.0.1",
            "100.63.0.1",
            "100.128.0.1",
            "223.255.255.255",
        ],
        true,
    );
    check(
        &[
            "2606:4700:4700::1111",
            "2a00:1450:4001::1",
            "::ffff:1.1.1.1",
            "64:ff9b::101:101",
            "2002:101:101::1",
        ],
        true,
    );
}

#[test]
fn this_machine_and_its_network_are_not() {
    check(
        &[
            "127.0.0.1",
            "127.255.0.1",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.9.9",
            "192.168.1.1",
        ],
        false,
    );
    check(&["::1", "::", "fe80::1", "fc00::1", "fd12::1", "fec0::1"], false);
}

#[test]
fn metadata_services_are_not() {
    check(&["169.254.169.254", "fd00:ec2::254", "100.100.100.200", "192.0.0.192"], false);
}

#[test]
fn a_private_address_in_the_clothes_of_another_is_not() {
    check(
        &[
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::a00:1",
            "2002:7f00:1::1",
            "::127.0.0.1",
        ],
        false,
    );
    check(&["64:ff9b:1::1", "2001::1", "2001:20::1"], false);
}

#[test]
fn reserved_addresses_are_not() {
    check(
        &[
            "224.0.0.1",
            "255.255.255.255",
            "240.0.0.1",
            "198.18.0.1",
            "192.0.2.1",
            "198.51.100.1",
            "203.0.113.1",
        ],
        false,
    );
    check(&["ff02::1", "2001:db8::1", "3fff::1", "4000::1", "100::1"], false);
}
