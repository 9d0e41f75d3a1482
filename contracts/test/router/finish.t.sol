// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {MerchantRegistry} from "../../src/MerchantRegistry.sol";
import {SplitRouter} from "../../src/SplitRouter.sol";
import {ICommissionEscrowErrors} from "../../src/interfaces/ICommissionEscrowErrors.sol";
import {ISplitRouterErrors} from "../../src/interfaces/ISplitRouterErrors.sol";
import {RouterTest} from "../base/RouterTest.sol";
import {ContractWallet} from "../base/Wallets.sol";

/// @notice A front-runner submitted the buyer's transfer to the token alone; the money lies in the router, unsplit.
contract FinishTest is RouterTest {
    SplitRouter.Purchase private purchase;

    function setUp() public override {
        super.setUp();
        purchase = transferPurchaseOf(buyer);
    }

    function test_succeeds_whenATransferWasFrontRun() public {
        frontRun(purchase.authorization);
        assertBalance(address(router), PRICE, "router");
        assertEq(router.unsplit(), PRICE);
        expectDeposit(buyer.addr, purchase.authorization.nonce);
        finish();
        assertSplit(buyer.addr);
        assertEq(router.unsplit(), 0);
    }

    function test_succeeds_whenTheAuthorisationHasExpiredSince() public {
        frontRun(purchase.authorization);
        vm.warp(purchase.authorization.validBefore + 1 hours - 1);
        finish();
        assertSplit(buyer.addr);
    }

    /// @dev From then on the money is its payer's: no signature of long ago splits it.
    function test_reverts_whenTheAuthorisationExpiredAnHourAgo() public {
        frontRun(purchase.authorization);
        uint256 closedAt = purchase.authorization.validBefore + 1 hours;
        vm.warp(closedAt);
        vm.expectRevert(abi.encodeWithSelector(ISplitRouterErrors.FinishTooLate.selector, closedAt, closedAt));
        finish();
        takeBack(purchase.authorization);
        assertBalance(buyer.addr, FUNDS, "buyer");
    }

    function test_succeeds_whenTheAuthorisationNeverExpires() public {
        purchase.authorization.validBefore = type(uint256).max;
        purchase.authorization.signature = sign(buyer, authorizationDigest(purchase.authorization));
        frontRun(purchase.authorization);
        finish();
        assertSplit(buyer.addr);
    }

    function test_succeeds_whenAnAccountThatDelegatesToCodePaid() public {
        address code = address(new ContractWallet(buyer.addr));
        vm.etch(buyer.addr, abi.encodePacked(hex"ef0100", code));
        frontRun(purchase.authorization);
        finish();
        assertSplit(buyer.addr);
    }

    /// [CHAIN-44]
    function test_reverts_whenFinishedTwice() public {
        frontRun(purchase.authorization);
        finish();
        // Another buyer's unsplit payment must not pay for it.
        frontRun(transferPurchaseOf(walletBuyer).authorization);
        expectAlreadySplit();
        finish();
        assertBalance(address(router), PRICE, "router");
    }

    function test_reverts_whenThePurchaseWasSettled() public {
        settle(purchase);
        frontRun(transferPurchaseOf(walletBuyer).authorization);
        expectAlreadySplit();
        finish();
    }

    function test_reverts_whenThePaymentWasTakenBack() public {
        frontRun(purchase.authorization);
        takeBack(purchase.authorization);
        frontRun(transferPurchaseOf(walletBuyer).authorization);
        vm.expectRevert(
            abi.encodeWithSelector(
                ISplitRouterErrors.PaymentAlreadyRefunded.selector, buyer.addr, purchase.authorization.nonce
            )
        );
        finish();
    }

    function test_reverts_whenNothingWasTransferred() public {
        vm.expectRevert(
            abi.encodeWithSelector(ISplitRouterErrors.AuthorizationNotUsed.selector, buyer.addr, purchase.authorization.nonce)
        );
        finish();
    }

    /// @dev A cancelled authorisation looks used, but brought no money.
    function test_reverts_whenTheAuthorisationWasCancelled() public {
        bytes32 structHash = keccak256(
            abi.encode(usdc.CANCEL_AUTHORIZATION_TYPEHASH(), buyer.addr, purchase.authorization.nonce)
        );
        usdc.cancelAuthorization(
            buyer.addr, purchase.authorization.nonce, sign(buyer, typedDataHash(usdc.DOMAIN_SEPARATOR(), structHash))
        );
        vm.expectRevert(abi.encodeWithSelector(ISplitRouterErrors.NotEnoughUnsplit.selector, PRICE, 0));
        finish();
    }

    function test_reverts_whenTheAuthorisationIsOfTheReceiveKind() public {
        frontRun(purchase.authorization);
        purchase.authorization.kind = RECEIVE;
        purchase.authorization.signature = sign(buyer, authorizationDigest(purchase.authorization));
        vm.expectRevert(abi.encodeWithSelector(ISplitRouterErrors.NotTransferAuthorization.selector));
        finish();
    }

    function test_reverts_whenSomebodyElseSigned() public {
        frontRun(purchase.authorization);
        purchase.authorization.signature = sign(reviewer, authorizationDigest(purchase.authorization));
        expectInvalidSignature();
        finish();
    }

    function test_reverts_whenASignedFieldIsAltered() public {
        frontRun(purchase.authorization);
        SplitRouter.Purchase memory signed = purchase;
        for (uint256 field = 0; field < 3; ++field) {
            purchase = signed;
            if (field == 0) purchase.authorization.value -= 1;
            if (field == 1) purchase.authorization.validAfter += 1;
            if (field == 2) purchase.authorization.validBefore += 1;
            expectInvalidSignature();
            finish();
        }
    }

    /// @dev The payer's other authorisation, settled long ago, does not vouch for this one.
    function test_reverts_whenTheNonceIsOfAnotherPayment() public {
        SplitRouter.Purchase memory other = transferPurchaseOf(buyer);
        frontRun(other.authorization);
        purchase.authorization.nonce = other.authorization.nonce;
        purchase.authorization.value = PRICE - 1;
        expectInvalidSignature();
        finish();
    }

    /// @dev The token's key check is the payer's word; a payment to another payee is not one to this router.
    function test_reverts_whenTheTransferWentToAnotherPayee() public {
        SplitRouter routerBefore = router;
        router = SplitRouter(stranger);
        purchase = transferPurchaseOf(buyer);
        frontRun(purchase.authorization);
        router = routerBefore;
        frontRun(transferPurchaseOf(walletBuyer).authorization);
        expectInvalidSignature();
        finish();
    }

    function test_reverts_whenTheMoneyIsOwedToSomebody() public {
        blockAccount(merchant.addr);
        settle(purchaseOf(walletBuyer));
        assertBalance(address(router), MERCHANT_NET, "router");
        assertEq(router.claimable(merchant.addr), MERCHANT_NET);
        assertEq(router.unsplit(), 0);

        purchase = signPurchase(buyer, 1_000_000, TRANSFER, attribution());
        frontRun(purchase.authorization);
        takeBack(purchase.authorization);
        purchase = signPurchase(buyer, 1_000_001, TRANSFER, attribution());
        // As if the token had used it: only the missing money can refuse.
        vm.mockCall(
            address(usdc),
            abi.encodeWithSelector(usdc.authorizationState.selector, buyer.addr, purchase.authorization.nonce),
            abi.encode(true)
        );
        vm.expectRevert(abi.encodeWithSelector(ISplitRouterErrors.NotEnoughUnsplit.selector, 1_000_001, 0));
        finish();
    }

    function test_reverts_whenTheMerchantHasClosed() public {
        frontRun(purchase.authorization);
        vm.prank(merchant.addr);
        merchants.setActive(merchantId, false);
        vm.expectRevert(abi.encodeWithSelector(MerchantRegistry.MerchantNotActive.selector, merchantId));
        finish();
        assertBalance(address(router), PRICE, "router");
    }

    function test_reverts_whenNotASettlerCalls() public {
        frontRun(purchase.authorization);
        vm.expectRevert(missingRole(buyer.addr, "SETTLER_ROLE"));
        vm.prank(buyer.addr);
        router.finish(purchase);
    }

    // ---- helpers

    function finish() private {
        vm.prank(settler);
        router.finish(purchase);
    }

    function expectAlreadySplit() private {
        vm.expectRevert(
            abi.encodeWithSelector(
                ICommissionEscrowErrors.PaymentAlreadySplit.selector, buyer.addr, purchase.authorization.nonce, 1
            )
        );
    }

    function expectInvalidSignature() private {
        vm.expectRevert(abi.encodeWithSelector(ISplitRouterErrors.InvalidSignature.selector, buyer.addr));
    }
}
