// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {Payouts} from "../../src/base/Payouts.sol";
import {SplitRouter} from "../../src/SplitRouter.sol";
import {ICommissionEscrowErrors} from "../../src/interfaces/ICommissionEscrowErrors.sol";
import {ISplitRouterErrors} from "../../src/interfaces/ISplitRouterErrors.sol";
import {RouterTest} from "../base/RouterTest.sol";

contract RefundTest is RouterTest {
    SplitRouter.Authorization private authorization;

    function setUp() public override {
        super.setUp();
        authorization = transferPurchaseOf(buyer).authorization;
    }

    function test_succeeds_whenAPaymentCannotBeSplit() public {
        frontRun(authorization);
        vm.prank(merchant.addr);
        merchants.setActive(merchantId, false);
        vm.expectEmit(address(router));
        emit SplitRouter.PaymentRefunded(buyer.addr, authorization.nonce, PRICE);
        refund();
        assertBalance(buyer.addr, FUNDS, "buyer");
        assertBalance(address(router), 0, "router");
        assertTrue(router.refunded(buyer.addr, authorization.nonce));
    }

    /// @dev One switch of the guardian stops whatever a stolen settler key could do.
    function test_reverts_whenTheEscrowIsPaused() public {
        frontRun(authorization);
        vm.prank(guardian);
        escrow.pause();
        vm.expectRevert(abi.encodeWithSelector(Pausable.EnforcedPause.selector));
        refund();
        assertBalance(address(router), PRICE, "router");
    }

    function test_succeeds_whenThePayerIsBlocked() public {
        frontRun(authorization);
        blockAccount(buyer.addr);
        vm.expectEmit(address(router));
        emit Payouts.PayoutDeferred(buyer.addr, PRICE);
        refund();
        assertEq(router.claimable(buyer.addr), PRICE);
        assertEq(router.unsplit(), 0);
    }

    function test_reverts_whenRefundedTwice() public {
        frontRun(authorization);
        refund();
        frontRun(transferPurchaseOf(walletBuyer).authorization);
        vm.expectRevert(
            abi.encodeWithSelector(ISplitRouterErrors.PaymentAlreadyRefunded.selector, buyer.addr, authorization.nonce)
        );
        refund();
        assertBalance(buyer.addr, FUNDS, "buyer");
    }

    function test_reverts_whenThePaymentWasSplit() public {
        SplitRouter.Purchase memory purchase = transferPurchaseOf(buyer);
        authorization = purchase.authorization;
        settle(purchase);
        frontRun(transferPurchaseOf(walletBuyer).authorization);
        vm.expectRevert(
            abi.encodeWithSelector(
                ICommissionEscrowErrors.PaymentAlreadySplit.selector, buyer.addr, authorization.nonce, 1
            )
        );
        refund();
        assertSplitBesideUnsplit();
    }

    function test_reverts_whenNothingWasTransferred() public {
        vm.expectRevert(
            abi.encodeWithSelector(ISplitRouterErrors.AuthorizationNotUsed.selector, buyer.addr, authorization.nonce)
        );
        refund();
    }

    function test_reverts_whenTheMoneyIsGone() public {
        frontRun(authorization);
        vm.prank(address(router));
        usdc.transfer(stranger, 1);
        vm.expectRevert(abi.encodeWithSelector(ISplitRouterErrors.NotEnoughUnsplit.selector, PRICE, PRICE - 1));
        refund();
    }

    function test_reverts_whenThePayerDidNotSign() public {
        frontRun(authorization);
        authorization.signature = sign(reviewer, authorizationDigest(authorization));
        vm.expectRevert(abi.encodeWithSelector(ISplitRouterErrors.InvalidSignature.selector, buyer.addr));
        refund();
    }

    function test_reverts_whenTheAuthorisationIsOfTheReceiveKind() public {
        frontRun(authorization);
        authorization.kind = RECEIVE;
        vm.expectRevert(abi.encodeWithSelector(ISplitRouterErrors.NotTransferAuthorization.selector));
        refund();
    }

    function test_reverts_whenNotASettlerCalls() public {
        frontRun(authorization);
        vm.expectRevert(missingRole(buyer.addr, "SETTLER_ROLE"));
        vm.prank(buyer.addr);
        router.refund(authorization);
    }

    // ---- helpers

    function refund() private {
        vm.prank(settler);
        router.refund(authorization);
    }

    function assertSplitBesideUnsplit() private view {
        assertBalance(buyer.addr, FUNDS - PRICE, "buyer");
        assertBalance(merchant.addr, MERCHANT_NET, "merchant");
        assertBalance(address(router), PRICE, "router");
    }
}
