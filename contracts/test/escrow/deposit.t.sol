// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {CommissionEscrow} from "../../src/CommissionEscrow.sol";
import {ICommissionEscrowErrors} from "../../src/interfaces/ICommissionEscrowErrors.sol";
import {ICommissionEscrowEvents} from "../../src/interfaces/ICommissionEscrowEvents.sol";
import {EscrowTest} from "../base/EscrowTest.sol";

contract DepositTest is EscrowTest {
    address private depositor = makeAddr("depositor");

    function setUp() public override {
        super.setUp();
        bytes32 role = escrow.DEPOSITOR_ROLE();
        vm.prank(admin);
        escrow.grantRole(role, depositor);
    }

    /// [CHAIN-05] [CHAIN-43]
    function test_succeeds_whenFunded() public {
        CommissionEscrow.Terms memory terms = newTerms("a");
        fund(17);
        vm.expectEmit(address(escrow));
        emit ICommissionEscrowEvents.EscrowDeposited(
            1, 3, 4, walletBuyer.addr, "a", 1, PRODUCT, 2, 100, 20, 2, 10, 5, block.timestamp + 60 days
        );
        assertEq(deposit(terms), 1);
        assertEq(escrow.lastEscrowId(), 1);
        assertEq(escrow.totalHeld(), 15);
        assertEq(escrow.fees(), 2);
        assertEq(escrow.owed(), 17);
    }

    /// @dev Neither is the depositor's to choose.
    function test_succeeds_whenIdAndWindowEndAreGivenHere() public {
        CommissionEscrow.Terms memory terms = newTerms("a");
        terms.escrowId = 404;
        terms.windowEnd = 1;
        fund(17);
        assertEq(deposit(terms), 1);
        terms.escrowId = 1;
        terms.windowEnd = block.timestamp + 60 days;
        escrow.requireTerms(terms);
    }

    function test_succeeds_whenIdsCountFromOne() public {
        fund(34);
        assertEq(deposit(newTerms("a")), 1);
        assertEq(deposit(newTerms("b")), 2);
        assertEq(escrow.owed(), 34);
    }

    function test_reverts_whenUnderfunded() public {
        fund(16);
        vm.expectRevert(abi.encodeWithSelector(ICommissionEscrowErrors.Underfunded.selector, 17, 16));
        deposit(newTerms("a"));
    }

    /// @dev Other escrows, uncollected fees and deferred payouts all count as spoken for.
    function test_reverts_whenOnlyOthersMoneyIsThere() public {
        fund(17);
        deposit(newTerms("a"));
        fund(16);
        vm.expectRevert(abi.encodeWithSelector(ICommissionEscrowErrors.Underfunded.selector, 34, 33));
        deposit(newTerms("b"));

        buyAgentlessAndDefer();
        uint256 owed = escrow.owed();
        uint256 surplus = usdc.balanceOf(address(escrow)) - owed;
        vm.expectRevert(abi.encodeWithSelector(ICommissionEscrowErrors.Underfunded.selector, owed + 17, owed + surplus));
        deposit(newTerms("b"));
    }

    function test_reverts_whenThePaymentWasSplitBefore() public {
        fund(34);
        deposit(newTerms("a"));
        vm.expectRevert(
            abi.encodeWithSelector(
                ICommissionEscrowErrors.PaymentAlreadySplit.selector, walletBuyer.addr, bytes32("a"), 1
            )
        );
        deposit(newTerms("a"));
    }

    function test_succeeds_whenTwoPayersUseOneNonce() public {
        fund(34);
        CommissionEscrow.Terms memory terms = newTerms("a");
        deposit(terms);
        terms.payer = buyer.addr;
        assertEq(deposit(terms), 2);
    }

    function test_reverts_whenNotADepositorCalls() public {
        fund(17);
        CommissionEscrow.Terms memory terms = newTerms("a");
        vm.expectRevert(missingRole(settler, "DEPOSITOR_ROLE"));
        vm.prank(settler);
        escrow.deposit(terms, 100, 20, 2);
    }

    function test_reverts_whenPaused() public {
        fund(17);
        pauseEscrow();
        vm.expectRevert(abi.encodeWithSelector(Pausable.EnforcedPause.selector));
        deposit(newTerms("a"));
    }

    function test_reverts_whenAmountsDoNotFitTheLedger() public {
        CommissionEscrow.Terms memory terms = newTerms("a");
        terms.heldBack = type(uint64).max;
        vm.expectRevert(
            abi.encodeWithSelector(
                SafeCast.SafeCastOverflowedUintDowncast.selector, 64, uint256(type(uint64).max) + 5
            )
        );
        deposit(terms);
    }

    // ---- helpers

    function newTerms(bytes32 nonce) private view returns (CommissionEscrow.Terms memory) {
        return CommissionEscrow.Terms({
            escrowId: 0,
            payer: walletBuyer.addr,
            nonce: nonce,
            merchantId: 1,
            productId: PRODUCT,
            reviewId: 2,
            reviewerAgentId: 3,
            buyerAgentId: 4,
            heldBack: 10,
            cashback: 5,
            windowEnd: 0
        });
    }

    function fund(uint256 amount) private {
        vm.prank(admin);
        usdc.mint(address(escrow), amount);
    }

    function deposit(CommissionEscrow.Terms memory terms) private returns (uint256) {
        vm.prank(depositor);
        return escrow.deposit(terms, 100, 20, 2);
    }

    function buyAgentlessAndDefer() private {
        CommissionEscrow.Terms memory terms = buyAgentless();
        blockAccount(reviewer.addr);
        vm.warp(terms.windowEnd);
        settleEscrow(terms, false, false);
        assertEq(escrow.claimable(reviewer.addr), HELD_BACK + CASHBACK);
    }
}
