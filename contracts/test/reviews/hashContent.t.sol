// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {MarketTest} from "../base/MarketTest.sol";

contract HashContentTest is MarketTest {
    /// [CHAIN-01] [CHAIN-02]
    function test_succeeds_whenTheHashIsOfTheWholeEncoding() public view {
        // The standard encoding by hand: three words, the string's offset, its length, its bytes padded.
        bytes memory encoding = bytes.concat(
            bytes32(uint256(7)),
            bytes32(uint256(3)),
            PRODUCT,
            bytes32(uint256(0x80)),
            bytes32(uint256(5)),
            bytes32(bytes("hello"))
        );
        assertEq(reviews.hashContent(7, 3, PRODUCT, "hello"), keccak256(encoding));
    }

    /// [CHAIN-01] [CHAIN-02]
    function testFuzz_succeeds_whenTheContentIsHashedAsGiven(
        uint256 agentId,
        uint256 id,
        bytes32 productId,
        string calldata content
    ) public view {
        bytes32 actual = reviews.hashContent(agentId, id, productId, content);
        assertEq(actual, keccak256(abi.encode(agentId, id, productId, content)));
        assertNotEq(actual, keccak256(abi.encodePacked(agentId, id, productId, content)));
        assertNotEq(actual, keccak256(abi.encode(agentId, id, productId, keccak256(bytes(content)))));
    }
}
