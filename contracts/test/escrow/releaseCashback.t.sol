// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {CommissionEscrow} from "../../src/CommissionEscrow.sol";
import {ICommissionEscrowErrors} from "../../src/interfaces/ICommissionEscrowErrors.sol";
import {ICommissionEscrowEvents} from "../../src/interfaces/ICommissionEscrowEvents.sol";
import {EscrowTest} from "../base/EscrowTest.sol";

contract ReleaseCashbackTest is EscrowTest {
    CommissionEscrow.Terms private terms;

    function setUp() public override {
        super.setUp();
        terms = buy();
    }

    function test_succeeds_whenTheWindowIsStillOpen() public {
        vm.expectEmit(address(escrow));
        emit ICommissionEscrowEvents.CashbackReleased(terms.escrowId, buyer.addr, CASHBACK);
        releaseCashback(terms);
        assertPaidOut(0, 0, CASHBACK, buyer.addr);
        assertState(terms, CommissionEscrow.State.Holding);
        (,,, bool released) = escrow.escrowOf(terms.payer, terms.nonce);
        assertTrue(released);
    }

    function test_succeeds_whenBoundLater() public {
        terms = buyAgentless();
        uint256 agentId = registerIdentity(walletBuyer.addr);
        vm.prank(walletBuyer.addr);
        escrow.bind(terms, agentId);
        terms.buyerAgentId = agentId;
        releaseCashback(terms);
        assertBalance(walletBuyer.addr, FUNDS - PRICE + CASHBACK, "wallet buyer");
    }

    /// @dev Cashback belongs to the wallet that paid, whoever owns the agent now.
    function test_succeeds_whenTheAgentChangedHands() public {
        transferIdentity(buyer.addr, stranger, buyerAgentId);
        releaseCashback(terms);
        assertPaidOut(0, 0, CASHBACK, buyer.addr);
        assertBalance(stranger, 0, "new owner");
    }

    function test_reverts_whenReleasedBefore() public {
        releaseCashback(terms);
        vm.expectRevert(
            abi.encodeWithSelector(ICommissionEscrowErrors.CashbackAlreadyReleased.selector, terms.escrowId)
        );
        releaseCashback(terms);
        assertPaidOut(0, 0, CASHBACK, buyer.addr);
    }

    function test_reverts_whenNoAgentIsBound() public {
        terms = buyAgentless();
        vm.expectRevert(abi.encodeWithSelector(ICommissionEscrowErrors.NotBound.selector, terms.escrowId));
        releaseCashback(terms);
    }

    function test_reverts_whenSettled() public {
        vm.warp(terms.windowEnd);
        settleEscrow(terms, false, false);
        vm.expectRevert(alreadySettled(terms));
        releaseCashback(terms);
    }

    function test_reverts_whenTheTermsAreAltered() public {
        for (uint256 field = 0; field < ALTERABLE_FIELDS; ++field) {
            CommissionEscrow.Terms memory copy = altered(terms, field);
            vm.expectRevert(termsMismatch(copy));
            releaseCashback(copy);
        }
    }

    function test_reverts_whenNotTheOracleCalls() public {
        vm.expectRevert(missingRole(buyer.addr, "ORACLE_ROLE"));
        vm.prank(buyer.addr);
        escrow.releaseCashback(terms);
    }

    function test_reverts_whenPaused() public {
        pauseEscrow();
        vm.expectRevert(abi.encodeWithSelector(Pausable.EnforcedPause.selector));
        releaseCashback(terms);
    }
}
