// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {CommissionEscrow} from "../../src/CommissionEscrow.sol";
import {ICommissionEscrowErrors} from "../../src/interfaces/ICommissionEscrowErrors.sol";
import {ICommissionEscrowEvents} from "../../src/interfaces/ICommissionEscrowEvents.sol";
import {EscrowTest} from "../base/EscrowTest.sol";

contract BindTest is EscrowTest {
    CommissionEscrow.Terms private terms;
    uint256 private agentId;

    function setUp() public override {
        super.setUp();
        terms = buyAgentless();
        agentId = registerIdentity(walletBuyer.addr);
    }

    /// [CHAIN-13]
    function test_succeeds_whenThePayerOwnsTheAgent() public {
        vm.expectEmit(address(escrow));
        emit ICommissionEscrowEvents.EscrowBound(terms.escrowId, agentId, walletBuyer.addr);
        bind(walletBuyer.addr, agentId);
        (,, bool bound_,) = escrow.escrowOf(terms.payer, terms.nonce);
        assertTrue(bound_);
        terms.buyerAgentId = agentId;
        escrow.requireTerms(terms);
        assertPaidOut(0, 0, 0, walletBuyer.addr);
    }

    /// [CHAIN-13]
    function test_succeeds_whenTheWindowHasEnded() public {
        vm.warp(terms.windowEnd + 9 days);
        bind(walletBuyer.addr, agentId);
    }

    /// [CHAIN-13]
    function test_succeeds_whenTheAgentIsAgentZero() public {
        transferIdentity(merchant.addr, walletBuyer.addr, 0);
        bind(walletBuyer.addr, 0);
        terms.buyerAgentId = 0;
        escrow.requireTerms(terms);
    }

    /// [CHAIN-14]
    function test_reverts_whenTheCallerDidNotPay() public {
        vm.expectRevert(
            abi.encodeWithSelector(ICommissionEscrowErrors.NotBuyerWallet.selector, buyer.addr, walletBuyer.addr)
        );
        bind(buyer.addr, buyerAgentId);
    }

    /// [CHAIN-15]
    function test_reverts_whenTheAgentBelongsToAnother() public {
        vm.expectRevert(
            abi.encodeWithSelector(ICommissionEscrowErrors.NotAgentController.selector, walletBuyer.addr, buyerAgentId)
        );
        bind(walletBuyer.addr, buyerAgentId);
    }

    /// [CHAIN-15]
    function test_reverts_whenTheCallerIsOnlyTheAgentsWallet() public {
        setAgentWallet(buyer.addr, buyerAgentId, walletBuyer);
        vm.expectRevert(
            abi.encodeWithSelector(ICommissionEscrowErrors.NotAgentController.selector, walletBuyer.addr, buyerAgentId)
        );
        bind(walletBuyer.addr, buyerAgentId);
    }

    /// [CHAIN-15]
    function test_reverts_whenThereIsNoSuchAgent() public {
        vm.expectRevert(
            abi.encodeWithSelector(
                ICommissionEscrowErrors.NotAgentController.selector, walletBuyer.addr, type(uint256).max
            )
        );
        bind(walletBuyer.addr, type(uint256).max);
    }

    /// [CHAIN-16]
    function test_reverts_whenBoundBefore() public {
        bind(walletBuyer.addr, agentId);
        bytes memory alreadyBound = abi.encodeWithSelector(ICommissionEscrowErrors.AlreadyBound.selector, terms.escrowId);
        vm.expectRevert(alreadyBound);
        bind(walletBuyer.addr, agentId); // with the terms from before
        terms.buyerAgentId = agentId;
        vm.expectRevert(alreadyBound);
        bind(walletBuyer.addr, agentId);
        uint256 another = registerIdentity(walletBuyer.addr);
        vm.expectRevert(alreadyBound);
        bind(walletBuyer.addr, another);
    }

    /// [CHAIN-17]
    function test_reverts_whenSettled() public {
        vm.warp(terms.windowEnd);
        settleEscrow(terms, false, false);
        vm.expectRevert(alreadySettled(terms));
        bind(walletBuyer.addr, agentId);
    }

    /// [CHAIN-17]
    function test_reverts_whenSettledByFallback() public {
        vm.warp(terms.windowEnd + 10 days);
        escrow.settleFallback(terms);
        vm.expectRevert(alreadySettled(terms));
        bind(walletBuyer.addr, agentId);
    }

    /// [CHAIN-18]
    function test_reverts_whenBoughtWithAnAgent() public {
        terms = buy();
        vm.expectRevert(abi.encodeWithSelector(ICommissionEscrowErrors.AlreadyBound.selector, terms.escrowId));
        bind(buyer.addr, buyerAgentId);
    }

    function test_reverts_whenTheTermsAreAltered() public {
        CommissionEscrow.Terms memory present = terms;
        for (uint256 field = 0; field < ALTERABLE_FIELDS; ++field) {
            terms = altered(present, field);
            vm.expectRevert(termsMismatch(terms));
            bind(walletBuyer.addr, agentId);
        }
    }

    function test_reverts_whenThereIsNoSuchEscrow() public {
        bytes memory noEscrow = abi.encodeWithSelector(ICommissionEscrowErrors.NoEscrow.selector, terms.escrowId);
        terms.nonce = keccak256("altered");
        vm.expectRevert(noEscrow);
        bind(walletBuyer.addr, agentId);
        terms.payer = buyer.addr;
        vm.expectRevert(noEscrow);
        bind(buyer.addr, buyerAgentId);
    }

    function test_reverts_whenPaused() public {
        pauseEscrow();
        vm.expectRevert(abi.encodeWithSelector(Pausable.EnforcedPause.selector));
        bind(walletBuyer.addr, agentId);
    }

    function bind(address caller, uint256 id) private {
        vm.prank(caller);
        escrow.bind(terms, id);
    }
}
