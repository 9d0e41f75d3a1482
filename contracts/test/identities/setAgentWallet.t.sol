// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IdentityRegistry} from "../../src/IdentityRegistry.sol";
import {MarketTest} from "../base/MarketTest.sol";
import {ContractWallet} from "../base/Wallets.sol";

contract SetAgentWalletTest is MarketTest {
    Wallet private till = makeWallet("till");
    uint256 private deadline;

    function setUp() public override {
        super.setUp();
        deadline = block.timestamp + 5 minutes;
    }

    function test_succeeds_whenTheWalletAgrees() public {
        bytes memory consent = consentOf(till, deadline);
        vm.expectEmit(address(identities));
        emit IdentityRegistry.MetadataSet(buyerAgentId, "agentWallet", "agentWallet", abi.encodePacked(till.addr));
        set(buyer.addr, till.addr, consent);
        assertEq(identities.getAgentWallet(buyerAgentId), till.addr);
    }

    function test_succeeds_whenAContractWalletAgrees() public {
        Wallet memory wallet = Wallet(address(new ContractWallet(till.addr)), till.key);
        set(buyer.addr, wallet.addr, consentOf(wallet, deadline));
        assertEq(identities.getAgentWallet(buyerAgentId), wallet.addr);
    }

    function test_succeeds_whenCleared() public {
        vm.expectEmit(address(identities));
        emit IdentityRegistry.MetadataSet(buyerAgentId, "agentWallet", "agentWallet", "");
        vm.prank(buyer.addr);
        identities.unsetAgentWallet(buyerAgentId);
        assertEq(identities.getAgentWallet(buyerAgentId), address(0));
    }

    function test_succeeds_whenATransferClearsIt() public {
        setAgentWallet(buyer.addr, buyerAgentId, till);
        vm.expectEmit(address(identities));
        emit IdentityRegistry.MetadataSet(buyerAgentId, "agentWallet", "agentWallet", "");
        transferIdentity(buyer.addr, stranger, buyerAgentId);
        assertEq(identities.getAgentWallet(buyerAgentId), address(0));
        assertEq(identities.ownerOf(buyerAgentId), stranger);
    }

    function test_reverts_whenTheWalletIsZero() public {
        vm.expectRevert(revertString("bad wallet"));
        set(buyer.addr, address(0), "");
    }

    function test_reverts_whenTheWalletDidNotAgree() public {
        bytes memory consent = consentOf(buyer, deadline);
        vm.expectRevert(revertString("invalid wallet sig"));
        set(buyer.addr, till.addr, consent);
    }

    function test_reverts_whenTheWalletAgreedWithAFormerOwner() public {
        bytes memory consent = consentOf(till, deadline);
        transferIdentity(buyer.addr, stranger, buyerAgentId);
        vm.expectRevert(revertString("invalid wallet sig"));
        set(stranger, till.addr, consent);
    }

    function test_reverts_whenTheDeadlinePassed() public {
        bytes memory consent = consentOf(till, deadline);
        vm.warp(deadline + 1);
        vm.expectRevert(revertString("expired"));
        set(buyer.addr, till.addr, consent);
    }

    function test_reverts_whenTheDeadlineIsTooFar() public {
        deadline += 1;
        bytes memory consent = consentOf(till, deadline);
        vm.expectRevert(revertString("deadline too far"));
        set(buyer.addr, till.addr, consent);
    }

    function test_reverts_whenAStrangerCalls() public {
        bytes memory consent = consentOf(till, deadline);
        vm.expectRevert(revertString("Not authorized"));
        set(stranger, till.addr, consent);
    }

    function consentOf(Wallet memory wallet, uint256 until) private view returns (bytes memory) {
        return sign(wallet, walletDigest(buyerAgentId, wallet.addr, buyer.addr, until));
    }

    function set(address caller, address wallet, bytes memory consent) private {
        vm.prank(caller);
        identities.setAgentWallet(buyerAgentId, wallet, deadline, consent);
    }
}
