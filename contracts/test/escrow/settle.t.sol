// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC721Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {CommissionEscrow} from "../../src/CommissionEscrow.sol";
import {ICommissionEscrowErrors} from "../../src/interfaces/ICommissionEscrowErrors.sol";
import {EscrowTest} from "../base/EscrowTest.sol";

contract EscrowSettleTest is EscrowTest {
    CommissionEscrow.Terms private terms;

    function setUp() public override {
        super.setUp();
        terms = buy();
        vm.warp(terms.windowEnd);
    }

    // ---- where the money goes

    /// [CHAIN-12] [CHAIN-19]
    function test_succeeds_whenConfirmedAndEarned() public {
        assertState(terms, CommissionEscrow.State.Holding);
        expectSettled(terms, oracle, false, [HELD_BACK, 0, CASHBACK, 0]);
        settleEscrow(terms, false, true);
        assertPaidOut(HELD_BACK, 0, CASHBACK, buyer.addr);
        assertState(terms, CommissionEscrow.State.Settled);
        assertEq(escrow.totalHeld(), 0);
    }

    /// [CHAIN-12]
    function test_succeeds_whenConfirmedAndNotEarned() public {
        expectSettled(terms, oracle, false, [HELD_BACK, 0, 0, CASHBACK]);
        settleEscrow(terms, false, false);
        assertPaidOut(HELD_BACK + CASHBACK, 0, 0, buyer.addr);
    }

    /// [CHAIN-12]
    function test_succeeds_whenContradictedAndEarned() public {
        expectSettled(terms, oracle, false, [0, HELD_BACK, CASHBACK, 0]);
        settleEscrow(terms, true, true);
        assertPaidOut(0, HELD_BACK, CASHBACK, buyer.addr);
    }

    /// [CHAIN-12]
    function test_succeeds_whenContradictedAndNotEarned() public {
        expectSettled(terms, oracle, false, [0, HELD_BACK, 0, CASHBACK]);
        settleEscrow(terms, true, false);
        assertPaidOut(CASHBACK, HELD_BACK, 0, buyer.addr);
    }

    /// @dev What was released before is not paid again, whatever the oracle says.
    function test_succeeds_whenCashbackWasReleasedBefore() public {
        releaseCashback(terms);
        expectSettled(terms, oracle, false, [HELD_BACK, 0, 0, 0]);
        settleEscrow(terms, false, true);
        assertPaidOut(HELD_BACK, 0, CASHBACK, buyer.addr);

        terms = buy();
        releaseCashback(terms);
        vm.warp(terms.windowEnd);
        settleEscrow(terms, false, false);
        assertBalance(reviewer.addr, 2 * (IMMEDIATE + HELD_BACK), "reviewer");
        assertEq(escrow.owed(), 2 * FEE);
    }

    function test_succeeds_whenTheReviewerChangedHands() public {
        transferIdentity(reviewer.addr, stranger, reviewerAgentId);
        settleEscrow(terms, false, false);
        assertBalance(stranger, HELD_BACK + CASHBACK, "present owner");
        assertBalance(reviewer.addr, IMMEDIATE, "former owner");
    }

    function test_succeeds_whenTheReviewerNamedAWalletSince() public {
        setAgentWallet(reviewer.addr, reviewerAgentId, makeWallet("till"));
        settleEscrow(terms, false, false);
        assertBalance(makeAddr("till"), HELD_BACK + CASHBACK, "agent wallet");
    }

    /// @dev A registry of one's choice may burn identities. Nobody else gets the money: it would look the same in an outage.
    function test_succeeds_whenTheReviewersIdentityIsGone() public {
        loseReviewer();
        settleEscrow(terms, false, false);
        assertPaidOut(0, 0, 0, buyer.addr);
        assertEq(escrow.claimableByAgent(reviewerAgentId), HELD_BACK + CASHBACK);
    }

    function test_succeeds_whenTheTreasuryMoved() public {
        vm.prank(admin);
        addresses.setAddress(keccak256("TREASURY"), stranger);
        settleEscrow(terms, true, false);
        assertBalance(stranger, HELD_BACK, "new treasury");
        assertBalance(treasury, 0, "old treasury");
    }

    function test_succeeds_whenNothingIsHeld() public {
        vm.prank(merchant.addr);
        merchants.setProductTerms(merchantId, PRODUCT, 0, 0);
        CommissionEscrow.Terms memory empty = buy();
        vm.warp(empty.windowEnd);
        expectSettled(empty, oracle, false, [uint256(0), 0, 0, 0]);
        settleEscrow(empty, false, true);
        assertState(empty, CommissionEscrow.State.Settled);
    }

    // ---- refusals

    /// [CHAIN-19]
    function test_reverts_whenTheWindowIsOpen() public {
        vm.warp(terms.windowEnd - 1);
        vm.expectRevert(
            abi.encodeWithSelector(ICommissionEscrowErrors.WindowOpen.selector, terms.windowEnd, terms.windowEnd - 1)
        );
        settleEscrow(terms, false, true);
    }

    function test_reverts_whenSettledBefore() public {
        settleEscrow(terms, false, true);
        vm.expectRevert(alreadySettled(terms));
        settleEscrow(terms, false, true);
        assertPaidOut(HELD_BACK, 0, CASHBACK, buyer.addr);
    }

    function test_reverts_whenCashbackIsEarnedByNoAgent() public {
        terms = buyAgentless();
        vm.warp(terms.windowEnd);
        vm.expectRevert(abi.encodeWithSelector(ICommissionEscrowErrors.NotBound.selector, terms.escrowId));
        settleEscrow(terms, false, true);
        settleEscrow(terms, false, false);
        assertState(terms, CommissionEscrow.State.Settled);
    }

    function test_reverts_whenTheTermsAreAltered() public {
        for (uint256 field = 0; field < ALTERABLE_FIELDS; ++field) {
            CommissionEscrow.Terms memory copy = altered(terms, field);
            vm.expectRevert(termsMismatch(copy));
            settleEscrow(copy, false, true);
        }
    }

    function test_reverts_whenThereIsNoSuchEscrow() public {
        terms.nonce = keccak256("altered");
        vm.expectRevert(abi.encodeWithSelector(ICommissionEscrowErrors.NoEscrow.selector, terms.escrowId));
        settleEscrow(terms, false, true);
    }

    function test_reverts_whenNotTheOracleCalls() public {
        vm.expectRevert(missingRole(settler, "ORACLE_ROLE"));
        vm.prank(settler);
        escrow.settle(terms, false, true);
    }

    function test_reverts_whenPaused() public {
        pauseEscrow();
        vm.expectRevert(abi.encodeWithSelector(Pausable.EnforcedPause.selector));
        settleEscrow(terms, false, true);
    }

    function loseReviewer() private {
        vm.mockCall(
            address(identities),
            abi.encodeWithSelector(identities.getAgentWallet.selector, reviewerAgentId),
            abi.encode(address(0))
        );
        vm.mockCallRevert(
            address(identities),
            abi.encodeWithSelector(identities.ownerOf.selector, reviewerAgentId),
            abi.encodeWithSelector(IERC721Errors.ERC721NonexistentToken.selector, reviewerAgentId)
        );
    }
}
