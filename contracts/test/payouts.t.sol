// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {CommissionEscrow} from "../src/CommissionEscrow.sol";
import {Payouts} from "../src/base/Payouts.sol";
import {EscrowTest} from "./base/EscrowTest.sol";

/// @notice A recipient that the token refuses is credited, and nobody else notices.
contract PayoutsTest is EscrowTest {
    function test_succeeds_whenTheMerchantIsBlocked() public {
        blockAccount(merchant.addr);
        vm.expectEmit(address(router));
        emit Payouts.PayoutDeferred(merchant.addr, MERCHANT_NET);
        buy();
        assertBalance(merchant.addr, 0, "merchant");
        assertBalance(reviewer.addr, IMMEDIATE, "reviewer");
        assertBalance(address(escrow), HELD_BACK + CASHBACK + FEE, "escrow");
        assertClaimedOnce(router, merchant.addr, MERCHANT_NET);
    }

    function test_succeeds_whenTheReviewerIsBlockedAtTheSale() public {
        blockAccount(reviewer.addr);
        vm.expectEmit(address(router));
        emit Payouts.PayoutDeferred(reviewer.addr, IMMEDIATE);
        buy();
        assertBalance(merchant.addr, MERCHANT_NET, "merchant");
        assertClaimedOnce(router, reviewer.addr, IMMEDIATE);
    }

    function test_succeeds_whenBothAreBlockedTwice() public {
        blockAccount(merchant.addr);
        blockAccount(reviewer.addr);
        buy();
        buyAgentless();
        assertEq(router.totalClaimable(), 2 * (MERCHANT_NET + IMMEDIATE));
        assertEq(router.unsplit(), 0);
        assertClaimedOnce(router, merchant.addr, 2 * MERCHANT_NET);
        assertClaimedOnce(router, reviewer.addr, 2 * IMMEDIATE);
    }

    function test_succeeds_whenTheReviewerIsBlockedAtSettlement() public {
        CommissionEscrow.Terms memory terms = buy();
        blockAccount(reviewer.addr);
        vm.warp(terms.windowEnd);
        settleEscrow(terms, false, true);
        assertState(terms, CommissionEscrow.State.Settled);
        assertBalance(buyer.addr, FUNDS - PRICE + CASHBACK, "buyer");
        assertBalance(address(escrow), FEE + HELD_BACK, "escrow");
        assertEq(escrow.owed(), FEE + HELD_BACK);
        // Claimed on top of what the sale had paid at once.
        blockedClaimReverts(escrow, reviewer.addr, HELD_BACK);
        unblockAccount(reviewer.addr);
        escrow.claim(reviewer.addr);
        assertBalance(reviewer.addr, IMMEDIATE + HELD_BACK, "reviewer");
    }

    function test_succeeds_whenTheBuyerIsBlockedAtTheCashback() public {
        CommissionEscrow.Terms memory terms = buy();
        blockAccount(buyer.addr);
        vm.expectEmit(address(escrow));
        emit Payouts.PayoutDeferred(buyer.addr, CASHBACK);
        releaseCashback(terms);
        blockedClaimReverts(escrow, buyer.addr, CASHBACK);
        // Settling does not touch what is deferred.
        vm.warp(terms.windowEnd);
        settleEscrow(terms, false, true);
        assertEq(escrow.claimable(buyer.addr), CASHBACK);
        unblockAccount(buyer.addr);
        escrow.claim(buyer.addr);
        assertPaidOut(HELD_BACK, 0, CASHBACK, buyer.addr);
    }

    function test_succeeds_whenTheTreasuryIsBlocked() public {
        CommissionEscrow.Terms memory terms = buy();
        blockAccount(treasury);
        vm.warp(terms.windowEnd + 10 days);
        escrow.settleFallback(terms);
        assertEq(escrow.collectFees(), FEE);
        assertState(terms, CommissionEscrow.State.Settled);
        assertBalance(reviewer.addr, IMMEDIATE + CASHBACK, "reviewer");
        assertClaimedOnce(escrow, treasury, HELD_BACK + FEE);
        assertEq(escrow.owed(), 0);
    }

    /// @dev A paused token refuses everybody; the settlement still stands.
    function test_succeeds_whenTheTokenIsPausedAtSettlement() public {
        CommissionEscrow.Terms memory terms = buy();
        vm.warp(terms.windowEnd);
        vm.prank(admin);
        usdc.pause();
        settleEscrow(terms, false, true);
        assertEq(escrow.claimable(reviewer.addr), HELD_BACK);
        assertEq(escrow.claimable(buyer.addr), CASHBACK);
        vm.expectRevert(revertString("Pausable: paused"));
        escrow.claim(buyer.addr);
        vm.prank(admin);
        usdc.unpause();
        escrow.claim(buyer.addr);
        escrow.claim(reviewer.addr);
        assertPaidOut(HELD_BACK, 0, CASHBACK, buyer.addr);
    }

    function test_reverts_whenThereIsNothingToClaim() public {
        vm.expectRevert(abi.encodeWithSelector(Payouts.NothingToClaim.selector, stranger));
        router.claim(stranger);
        vm.expectRevert(abi.encodeWithSelector(Payouts.NothingToClaim.selector, stranger));
        escrow.claim(stranger);
    }

    // ---- helpers

    /// @dev While blocked the claim fails and the balance stays; afterwards anybody's call pays the account, once.
    function assertClaimedOnce(Payouts payouts, address account, uint256 amount) private {
        blockedClaimReverts(payouts, account, amount);
        unblockAccount(account);
        uint256 total = payouts.totalClaimable();
        uint256 balance = usdc.balanceOf(account);
        vm.expectEmit(address(payouts));
        emit Payouts.PayoutClaimed(account, amount);
        vm.prank(stranger);
        assertEq(payouts.claim(account), amount);
        assertBalance(account, balance + amount, "claimant");
        assertEq(payouts.totalClaimable(), total - amount, "total claimable");
        vm.expectRevert(abi.encodeWithSelector(Payouts.NothingToClaim.selector, account));
        payouts.claim(account);
    }

    function blockedClaimReverts(Payouts payouts, address account, uint256 amount) private {
        vm.expectRevert(revertString("Blacklistable: account is blacklisted"));
        payouts.claim(account);
        assertEq(payouts.claimable(account), amount, "claimable");
    }
}
