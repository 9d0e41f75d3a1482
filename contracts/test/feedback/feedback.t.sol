// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC721Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";
import {ReputationRegistry} from "../../src/sandbox/ReputationRegistry.sol";
import {MarketTest} from "../base/MarketTest.sol";

contract FeedbackTest is MarketTest {
    bytes32 private constant HASH = keccak256("content");
    int128 private constant MOST = 1e38;
    ReputationRegistry private registry;
    address[] private everybody;

    function setUp() public override {
        super.setUp();
        registry =
            ReputationRegistry(deploy("sandbox/ReputationRegistry.sol:ReputationRegistry", abi.encode(identities)));
    }

    function give(address client, int128 value, uint8 decimals, string memory tag1, string memory tag2) private {
        vm.prank(client);
        registry.giveFeedback(merchantId, value, decimals, tag1, tag2, "https://shop.test/a", "https://m.test/1", HASH);
    }

    function give(address client, int128 value) private {
        give(client, value, 0, "referrer", "tea");
    }

    function test_succeeds_whenABuyerGivesFeedback() public {
        vm.expectEmit(address(registry));
        emit ReputationRegistry.NewFeedback(
            merchantId,
            buyer.addr,
            1,
            75,
            0,
            "referrer",
            "referrer",
            "tea",
            "https://shop.test/a",
            "https://m.test/1",
            HASH
        );
        give(buyer.addr, 75);
        (int128 value, uint8 decimals, string memory tag1, string memory tag2, bool isRevoked) =
            registry.readFeedback(merchantId, buyer.addr, 1);
        assertEq(value, 75);
        assertEq(decimals, 0);
        assertEq(tag1, "referrer");
        assertEq(tag2, "tea");
        assertFalse(isRevoked);
        assertEq(registry.getLastIndex(merchantId, buyer.addr), 1);
        assertEq(registry.getIdentityRegistry(), address(identities));
    }

    function test_succeeds_whenAClientGivesManyAndIsListedOnce() public {
        give(buyer.addr, 75);
        give(stranger, 10);
        give(buyer.addr, 25);
        address[] memory clients = registry.getClients(merchantId);
        assertEq(clients.length, 2);
        assertEq(clients[0], buyer.addr);
        assertEq(clients[1], stranger);
        assertEq(registry.getLastIndex(merchantId, buyer.addr), 2);
        assertEq(registry.getLastIndex(merchantId, reviewer.addr), 0);
    }

    function test_reverts_whenTheOwnerOrAnOperatorGivesFeedback() public {
        vm.prank(merchant.addr);
        identities.setApprovalForAll(stranger, true);
        vm.prank(merchant.addr);
        identities.approve(buyer.addr, merchantId);
        address[3] memory parties = [merchant.addr, stranger, buyer.addr];
        for (uint256 i = 0; i < parties.length; ++i) {
            vm.expectRevert(revertString("Self-feedback not allowed"));
            give(parties[i], 100);
        }
    }

    function test_reverts_whenThereIsNoSuchAgent() public {
        vm.expectRevert(abi.encodeWithSelector(IERC721Errors.ERC721NonexistentToken.selector, 404));
        vm.prank(buyer.addr);
        registry.giveFeedback(404, 100, 0, "", "", "", "", HASH);
    }

    function test_reverts_whenTheValueIsOutOfBounds() public {
        vm.expectRevert(revertString("too many decimals"));
        give(buyer.addr, 1, 19, "", "");
        vm.expectRevert(revertString("value too large"));
        give(buyer.addr, MOST + 1, 0, "", "");
        vm.expectRevert(revertString("value too large"));
        give(buyer.addr, -MOST - 1, 0, "", "");
        give(buyer.addr, MOST, 18, "", "");
        give(buyer.addr, -MOST, 0, "", "");
        assertEq(registry.getLastIndex(merchantId, buyer.addr), 2);
    }

    function test_succeeds_whenAClientRevokesItsOwn() public {
        give(buyer.addr, 75);
        vm.expectEmit(address(registry));
        emit ReputationRegistry.FeedbackRevoked(merchantId, buyer.addr, 1);
        vm.prank(buyer.addr);
        registry.revokeFeedback(merchantId, 1);
        (,,,, bool isRevoked) = registry.readFeedback(merchantId, buyer.addr, 1);
        assertTrue(isRevoked);
    }

    function test_reverts_whenThereIsNothingToRevoke() public {
        give(buyer.addr, 75);
        vm.startPrank(buyer.addr);
        vm.expectRevert(revertString("index must be > 0"));
        registry.revokeFeedback(merchantId, 0);
        vm.expectRevert(revertString("index out of bounds"));
        registry.revokeFeedback(merchantId, 2);
        registry.revokeFeedback(merchantId, 1);
        vm.expectRevert(revertString("Already revoked"));
        registry.revokeFeedback(merchantId, 1);
        vm.stopPrank();
        vm.expectRevert(revertString("index out of bounds"));
        vm.prank(stranger);
        registry.revokeFeedback(merchantId, 1);
    }

    function test_succeeds_whenAnybodyAnswers() public {
        give(buyer.addr, 75);
        give(buyer.addr, 25);
        vm.expectEmit(address(registry));
        emit ReputationRegistry.ResponseAppended(merchantId, buyer.addr, 1, merchant.addr, "https://s.test/re", HASH);
        vm.prank(merchant.addr);
        registry.appendResponse(merchantId, buyer.addr, 1, "https://s.test/re", HASH);
        vm.startPrank(stranger);
        registry.appendResponse(merchantId, buyer.addr, 1, "https://s.test/1", HASH);
        registry.appendResponse(merchantId, buyer.addr, 1, "https://s.test/2", HASH);
        registry.appendResponse(merchantId, buyer.addr, 2, "https://s.test/3", HASH);
        vm.stopPrank();
        address[] memory nobody;
        address[] memory only = new address[](1);
        only[0] = stranger;
        assertEq(registry.getResponseCount(merchantId, buyer.addr, 1, nobody), 3);
        assertEq(registry.getResponseCount(merchantId, buyer.addr, 1, only), 2);
        assertEq(registry.getResponseCount(merchantId, buyer.addr, 0, only), 3);
        assertEq(registry.getResponseCount(merchantId, address(0), 0, nobody), 4);
        assertEq(registry.getResponseCount(merchantId, stranger, 1, nobody), 0);
    }

    function test_reverts_whenThereIsNothingToAnswer() public {
        vm.expectRevert(revertString("index must be > 0"));
        registry.appendResponse(merchantId, buyer.addr, 0, "https://s.test/re", HASH);
        vm.expectRevert(revertString("index out of bounds"));
        registry.appendResponse(merchantId, buyer.addr, 1, "https://s.test/re", HASH);
        give(buyer.addr, 75);
        vm.expectRevert(revertString("Empty URI"));
        registry.appendResponse(merchantId, buyer.addr, 1, "", HASH);
        vm.expectRevert(revertString("index must be > 0"));
        registry.readFeedback(merchantId, buyer.addr, 0);
        vm.expectRevert(revertString("index out of bounds"));
        registry.readFeedback(merchantId, buyer.addr, 2);
    }

    function test_succeeds_whenASummaryIsRead() public {
        give(buyer.addr, 75);
        give(buyer.addr, 9977, 2, "uptime", "");
        give(stranger, 50);
        give(stranger, 100);
        vm.prank(stranger);
        registry.revokeFeedback(merchantId, 2);
        everybody = [buyer.addr, stranger];
        (uint64 count, int128 value, uint8 decimals) = registry.getSummary(merchantId, everybody, "referrer", "");
        assertEq(count, 2);
        assertEq(value, 62);
        assertEq(decimals, 0);
        (count, value, decimals) = registry.getSummary(merchantId, everybody, "uptime", "");
        assertEq(count, 1);
        assertEq(value, 9977);
        assertEq(decimals, 2);
        (count,,) = registry.getSummary(merchantId, everybody, "", "coffee");
        assertEq(count, 0);
        (count,,) = registry.getSummary(merchantId, everybody, "", "");
        assertEq(count, 3);
    }

    function test_reverts_whenASummaryNamesNobody() public {
        vm.expectRevert(revertString("clientAddresses required"));
        registry.getSummary(merchantId, everybody, "", "");
    }

    function test_succeeds_whenAllIsRead() public {
        give(buyer.addr, 75);
        give(stranger, 50, 1, "referrer", "coffee");
        give(buyer.addr, -25);
        vm.prank(buyer.addr);
        registry.revokeFeedback(merchantId, 1);
        (
            address[] memory clients,
            uint64[] memory indexes,
            int128[] memory values,
            uint8[] memory decimals,
            string[] memory tag1s,
            string[] memory tag2s,
            bool[] memory revoked
        ) = registry.readAllFeedback(merchantId, everybody, "", "", true);
        assertEq(clients.length, 3);
        assertEq(clients[2], stranger);
        assertEq(indexes[1], 2);
        assertEq(values[1], -25);
        assertEq(decimals[2], 1);
        assertEq(tag1s[0], "referrer");
        assertEq(tag2s[2], "coffee");
        assertTrue(revoked[0]);
        (clients,,,,,,) = registry.readAllFeedback(merchantId, everybody, "", "", false);
        assertEq(clients.length, 2);
        everybody = [buyer.addr];
        (clients, indexes,,,,,) = registry.readAllFeedback(merchantId, everybody, "referrer", "tea", false);
        assertEq(clients.length, 1);
        assertEq(indexes[0], 2);
    }

    function testFuzz_succeeds_whenTheAverageStaysWithinTheValues(int128 a, int128 b, uint8 decimals) public {
        decimals %= 19;
        a %= MOST + 1;
        b %= MOST + 1;
        give(buyer.addr, a, decimals, "", "");
        give(stranger, b, decimals, "", "");
        everybody = [buyer.addr, stranger];
        (uint64 count, int128 value, uint8 shown) = registry.getSummary(merchantId, everybody, "", "");
        assertEq(count, 2);
        assertEq(shown, decimals);
        assertEq(int256(value), (int256(a) + int256(b)) / 2);
    }
}
