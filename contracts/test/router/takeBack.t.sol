// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {Payouts} from "../../src/base/Payouts.sol";
import {SplitRouter} from "../../src/SplitRouter.sol";
import {ICommissionEscrowErrors} from "../../src/interfaces/ICommissionEscrowErrors.sol";
import {ISplitRouterErrors} from "../../src/interfaces/ISplitRouterErrors.sol";
import {RouterTest} from "../base/RouterTest.sol";

/// @notice Money that a front-runner sent here unsplit goes back to its payer, at the cost of whoever asks for it.
contract TakeBackTest is RouterTest {
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
        takeBack();
        assertBalance(buyer.addr, FUNDS, "buyer");
        assertBalance(address(router), 0, "router");
        assertTrue(router.refunded(buyer.addr, authorization.nonce));
    }

    /// @dev One switch of the guardian stops whatever a stolen settler's key could do.
    function test_reverts_whenTheEscrowIsPaused() public {
        frontRun(authorization);
        vm.prank(guardian);
        escrow.pause();
        vm.expectRevert(abi.encodeWithSelector(Pausable.EnforcedPause.selector));
        takeBack();
        assertBalance(address(router), PRICE, "router");
    }

    function test_succeeds_whenThePayerIsBlocked() public {
        frontRun(authorization);
        blockAccount(buyer.addr);
        vm.expectEmit(address(router));
        emit Payouts.PayoutDeferred(buyer.addr, PRICE);
        takeBack();
        assertEq(router.claimable(buyer.addr), PRICE);
        assertEq(router.unsplit(), 0);
    }

    function test_reverts_whenTakenBackTwice() public {
        frontRun(authorization);
        takeBack();
        frontRun(transferPurchaseOf(walletBuyer).authorization);
        vm.expectRevert(
            abi.encodeWithSelector(ISplitRouterErrors.PaymentAlreadyRefunded.selector, buyer.addr, authorization.nonce)
        );
        takeBack();
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
        takeBack();
        assertSplitBesideUnsplit();
    }

    function test_reverts_whenNothingWasTransferred() public {
        vm.expectRevert(
            abi.encodeWithSelector(ISplitRouterErrors.AuthorizationNotUsed.selector, buyer.addr, authorization.nonce)
        );
        takeBack();
    }

    function test_reverts_whenTheMoneyIsGone() public {
        frontRun(authorization);
        vm.prank(address(router));
        usdc.transfer(stranger, 1);
        vm.expectRevert(abi.encodeWithSelector(ISplitRouterErrors.NotEnoughUnsplit.selector, PRICE, PRICE - 1));
        takeBack();
    }

    function test_reverts_whenThePayerDidNotSign() public {
        frontRun(authorization);
        authorization.signature = sign(reviewer, authorizationDigest(authorization));
        vm.expectRevert(abi.encodeWithSelector(ISplitRouterErrors.InvalidSignature.selector, buyer.addr));
        takeBack();
    }

    function test_reverts_whenTheAuthorisationIsOfTheReceiveKind() public {
        frontRun(authorization);
        authorization.kind = RECEIVE;
        vm.expectRevert(abi.encodeWithSelector(ISplitRouterErrors.NotTransferAuthorization.selector));
        takeBack();
    }

    // ---- the permission

    function test_succeeds_whenAnybodyCallsOnceThePermissionHolds() public {
        frontRun(authorization);
        uint256 notBefore = authorization.validBefore + 1 hours;
        bytes memory permission =
            signPermission(settlerWallet, buyer.addr, authorization.nonce, authorization.value, notBefore);
        vm.warp(notBefore - 1);
        vm.expectRevert(
            abi.encodeWithSelector(ISplitRouterErrors.TakeBackTooEarly.selector, notBefore, notBefore - 1)
        );
        router.takeBack(authorization, notBefore, permission);
        vm.warp(notBefore);
        router.takeBack(authorization, notBefore, permission);
        assertBalance(buyer.addr, FUNDS, "buyer");
    }

    function test_reverts_whenThePermissionIsNotASettlers() public {
        frontRun(authorization);
        bytes memory permission = signPermission(buyer, buyer.addr, authorization.nonce, PRICE, 0);
        expectNotPermitted(buyer.addr);
        vm.prank(settler);
        router.takeBack(authorization, 0, permission);
    }

    function test_reverts_whenTheSettlerHasLostTheRole() public {
        frontRun(authorization);
        bytes32 role = router.SETTLER_ROLE();
        vm.prank(admin);
        router.revokeRole(role, settler);
        expectNotPermitted(settler);
        takeBack();
    }

    function test_reverts_whenThePermissionIsNoSignature() public {
        frontRun(authorization);
        bytes memory whole = signPermission(settlerWallet, buyer.addr, authorization.nonce, PRICE, 0);
        bytes[3] memory wrong = [bytes(""), new bytes(65), bytes.concat(whole, hex"00")];
        for (uint256 i = 0; i < wrong.length; ++i) {
            expectNotPermitted(address(0));
            router.takeBack(authorization, 0, wrong[i]);
        }
    }

    /// @dev Payer, nonce, amount, time and router: a permission for one payment is none for another.
    function test_reverts_whenThePermissionIsForAnotherPayment() public {
        frontRun(authorization);
        bytes[5] memory wrong = [
            signPermission(settlerWallet, walletBuyer.addr, authorization.nonce, PRICE, 0),
            signPermission(settlerWallet, buyer.addr, keccak256("other"), PRICE, 0),
            signPermission(settlerWallet, buyer.addr, authorization.nonce, PRICE - 1, 0),
            signPermission(settlerWallet, buyer.addr, authorization.nonce, PRICE, 1),
            _permissionOfAnotherRouter()
        ];
        for (uint256 i = 0; i < wrong.length; ++i) {
            vm.expectPartialRevert(ISplitRouterErrors.NotPermitted.selector);
            router.takeBack(authorization, 0, wrong[i]);
        }
        assertBalance(address(router), PRICE, "router");
    }

    /// @dev The permission vouches that the money arrived; whose it is, the payer's own signature says.
    function test_reverts_whenThePermissionStandsAlone() public {
        frontRun(transferPurchaseOf(walletBuyer).authorization);
        authorization.from = stranger;
        vm.mockCall(address(usdc), abi.encodeWithSelector(usdc.authorizationState.selector), abi.encode(true));
        vm.expectRevert(abi.encodeWithSelector(ISplitRouterErrors.InvalidSignature.selector, stranger));
        takeBack();
    }

    // ---- helpers

    function takeBack() private {
        takeBack(authorization);
    }

    function expectNotPermitted(address signer) private {
        vm.expectRevert(abi.encodeWithSelector(ISplitRouterErrors.NotPermitted.selector, signer));
    }

    function assertSplitBesideUnsplit() private view {
        assertBalance(buyer.addr, FUNDS - PRICE, "buyer");
        assertBalance(merchant.addr, MERCHANT_NET, "merchant");
        assertBalance(address(router), PRICE, "router");
    }

    function _permissionOfAnotherRouter() private returns (bytes memory permission) {
        SplitRouter ours = router;
        router = SplitRouter(stranger);
        permission = signPermission(settlerWallet, buyer.addr, authorization.nonce, PRICE, 0);
        router = ours;
    }
}
