// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {CommissionEscrow} from "../../src/CommissionEscrow.sol";
import {MerchantRegistry} from "../../src/MerchantRegistry.sol";
import {SplitRouter} from "../../src/SplitRouter.sol";
import {ISplitRouterErrors} from "../../src/interfaces/ISplitRouterErrors.sol";
import {Split} from "../../src/libraries/Split.sol";
import {RouterTest} from "../base/RouterTest.sol";
import {ContractWallet} from "../base/Wallets.sol";

contract SettleTest is RouterTest {
    // ---- the split

    /// [CHAIN-03] [CHAIN-05] [CHAIN-06] [CHAIN-43]
    function test_succeeds_whenASettlerReceivesAPayment() public {
        SplitRouter.Purchase memory purchase = purchaseOf(buyer);
        expectDeposit(buyer.addr, purchase.authorization.nonce);
        vm.prank(settler);
        assertEq(router.settle(purchase), 1);
        assertSplit(buyer.addr);
        assertEq(MERCHANT_NET + IMMEDIATE + HELD_BACK + CASHBACK + FEE, PRICE);
        assertGt(IMMEDIATE, 0);
        assertGt(HELD_BACK, 0);
    }

    /// [CHAIN-03] [CHAIN-05]
    function test_succeeds_whenASettlerTransfersAPayment() public {
        SplitRouter.Purchase memory purchase = transferPurchaseOf(buyer);
        expectDeposit(buyer.addr, purchase.authorization.nonce);
        vm.prank(settler);
        router.settle(purchase);
        assertSplit(buyer.addr);
    }

    /// [CHAIN-03] [CHAIN-06] [CHAIN-42]
    function testFuzz_succeeds_whenRatesAreInBounds(
        uint256 price,
        uint256 commissionBps,
        uint256 multiplierBps,
        uint256 cashbackBps
    ) public {
        price = bound(price, 1, FUNDS);
        commissionBps = bound(commissionBps, 0, 10_000);
        multiplierBps = bound(multiplierBps, 4_000, 10_000);
        cashbackBps = bound(cashbackBps, 0, 4_000);
        vm.prank(merchant.addr);
        merchants.setProductTerms(merchantId, PRODUCT, uint16(commissionBps), 0);
        SplitRouter.Attribution memory attributed = attribution();
        attributed.commissionMultiplierBps = uint16(multiplierBps);
        attributed.cashbackOfCommissionBps = uint16(cashbackBps);

        CommissionEscrow.Terms memory terms = settle(signPurchase(buyer, price, RECEIVE, attributed));

        uint256 commission = price * commissionBps * multiplierBps / 10 ** 8;
        uint256 cashback = commission * cashbackBps / 10 ** 4;
        uint256 fee = commission * 1_000 / 10 ** 4;
        uint256 reviewerShare = commission - fee - cashback;
        uint256 heldBack = reviewerShare * 5_000 / 10 ** 4;
        assertEq(terms.heldBack, heldBack, "held back");
        assertEq(terms.cashback, cashback, "cashback");
        assertEq(escrow.fees(), fee, "fee");
        assertBalance(merchant.addr, price - commission, "merchant");
        assertBalance(reviewer.addr, reviewerShare - heldBack, "reviewer");
        assertBalance(address(escrow), heldBack + cashback + fee, "escrow");
        assertBalance(address(router), 0, "router");
        assertBalance(buyer.addr, FUNDS - price, "buyer");
        // What the commission paid tells about the multiplier, within the one unit that rounding takes.
        assertLe(commission * 10 ** 4, price * commissionBps, "multiplier above 1.0");
        assertGe((commission + 1) * 10 ** 8, price * commissionBps * 4_000, "multiplier below 0.4");
    }

    /// [CHAIN-04]
    function test_succeeds_whenCashbackComesOutOfTheReviewersShare() public {
        SplitRouter.Attribution memory attributed = attribution();
        attributed.cashbackOfCommissionBps = 0;
        CommissionEscrow.Terms memory without = settle(signPurchase(buyer, PRICE, RECEIVE, attributed));
        assertBalance(merchant.addr, MERCHANT_NET, "merchant without cashback");
        assertBalance(reviewer.addr, IMMEDIATE + CASHBACK / 2, "reviewer without cashback");
        assertEq(without.cashback, 0);

        CommissionEscrow.Terms memory with = buy();
        assertBalance(merchant.addr, 2 * MERCHANT_NET, "merchant with cashback");
        assertEq(escrow.fees(), 2 * FEE, "fee with cashback");
        assertEq(with.cashback, CASHBACK);
        assertEq(without.heldBack - with.heldBack, CASHBACK / 2);
    }

    function test_succeeds_whenTheProductPaysNoCommission() public {
        vm.prank(merchant.addr);
        merchants.setProductTerms(merchantId, PRODUCT, 0, 0);
        CommissionEscrow.Terms memory terms = buy();
        assertEq(terms.heldBack + terms.cashback, 0);
        assertBalance(merchant.addr, PRICE, "merchant");
        assertBalance(address(escrow), 0, "escrow");
    }

    function test_succeeds_whenTheWholePriceIsCommission() public {
        vm.prank(merchant.addr);
        merchants.setProductTerms(merchantId, PRODUCT, 10_000, 0);
        SplitRouter.Attribution memory attributed = attribution();
        attributed.commissionMultiplierBps = 10_000;
        settle(signPurchase(buyer, PRICE, RECEIVE, attributed));
        assertBalance(merchant.addr, 0, "merchant");
        assertBalance(reviewer.addr, 8_750_000, "reviewer");
        assertBalance(address(escrow), 16_250_000, "escrow");
    }

    // ---- who buys

    /// [CHAIN-07]
    function test_succeeds_whenNoAgentBuys() public {
        CommissionEscrow.Terms memory terms = buyAgentless();
        assertEq(terms.buyerAgentId, type(uint256).max);
        (,, bool bound_,) = escrow.escrowOf(terms.payer, terms.nonce);
        assertFalse(bound_);
    }

    /// [CHAIN-07]
    function test_succeeds_whenAgentZeroBuys() public {
        SplitRouter.Attribution memory attributed = attribution();
        attributed.buyerAgentId = 0;
        CommissionEscrow.Terms memory terms = settle(signPurchase(buyer, PRICE, RECEIVE, attributed));
        assertEq(terms.buyerAgentId, 0);
        (,, bool bound_,) = escrow.escrowOf(terms.payer, terms.nonce);
        assertTrue(bound_);
    }

    function test_succeeds_whenAContractWalletPays() public {
        Wallet memory payer = contractWallet(buyer);
        SplitRouter.Purchase memory purchase = purchaseOf(payer);
        vm.prank(settler);
        router.settle(purchase);
        assertSplit(payer.addr);
    }

    function test_reverts_whenAContractWalletDeniesTheSignature() public {
        Wallet memory payer = contractWallet(reviewer);
        payer.key = buyer.key;
        assertRefused(purchaseOf(payer), revertString("FiatTokenV2: invalid signature"));
    }

    function test_succeeds_whenAnAccountThatDelegatesToCodePays() public {
        address code = address(new ContractWallet(buyer.addr));
        vm.etch(buyer.addr, abi.encodePacked(hex"ef0100", code));
        settle(purchaseOf(buyer));
        assertSplit(buyer.addr);
    }

    // ---- what a sale needs

    /// [CHAIN-38] [CHAIN-41]
    function test_reverts_whenTheMerchantIsClosed() public {
        vm.prank(merchant.addr);
        merchants.setActive(merchantId, false);
        assertRefused(
            purchaseOf(buyer), abi.encodeWithSelector(MerchantRegistry.MerchantNotActive.selector, merchantId)
        );
    }

    /// [CHAIN-38] [CHAIN-41]
    function test_reverts_whenTheMerchantIsSuspended() public {
        vm.prank(guardian);
        merchants.setSuspended(merchantId, true);
        assertRefused(
            purchaseOf(buyer), abi.encodeWithSelector(MerchantRegistry.MerchantNotActive.selector, merchantId)
        );
    }

    /// [CHAIN-38]
    function test_reverts_whenTheMerchantDoesNotExist() public {
        SplitRouter.Attribution memory attributed = attribution();
        attributed.merchantId = 404;
        assertRefused(
            signPurchase(buyer, PRICE, RECEIVE, attributed),
            abi.encodeWithSelector(MerchantRegistry.MerchantNotActive.selector, 404)
        );
    }

    /// [CHAIN-38]
    function test_reverts_whenTheMerchantChangedHands() public {
        transferIdentity(merchant.addr, stranger, merchantId);
        assertRefused(
            purchaseOf(buyer), abi.encodeWithSelector(MerchantRegistry.MerchantNotActive.selector, merchantId)
        );
    }

    /// [CHAIN-39] [CHAIN-41]
    function test_reverts_whenTheProductIsClosed() public {
        vm.prank(merchant.addr);
        merchants.setProductActive(merchantId, PRODUCT, false);
        assertRefused(
            purchaseOf(buyer), abi.encodeWithSelector(MerchantRegistry.ProductNotActive.selector, merchantId, PRODUCT)
        );
    }

    /// [CHAIN-39]
    function test_reverts_whenTheProductIsNotListed() public {
        SplitRouter.Attribution memory attributed = attribution();
        attributed.productId = keccak256("other");
        assertRefused(
            signPurchase(buyer, PRICE, RECEIVE, attributed),
            abi.encodeWithSelector(MerchantRegistry.ProductNotActive.selector, merchantId, keccak256("other"))
        );
    }

    function test_reverts_whenTheReviewerIsUnknown() public {
        SplitRouter.Attribution memory attributed = attribution();
        attributed.reviewerAgentId = 404;
        assertRefused(
            signPurchase(buyer, PRICE, RECEIVE, attributed),
            abi.encodeWithSelector(ISplitRouterErrors.ReviewerNotFound.selector, 404)
        );
    }

    /// @dev Nobody can tell then whom to pay, nor whether the payer refers itself: the money stays with the payer.
    function test_reverts_whenTheRegistryDoesNotAnswer() public {
        bytes memory refusal = abi.encodeWithSelector(ISplitRouterErrors.RegistryUnreadable.selector, reviewerAgentId);
        bytes4[2] memory questions = [identities.getAgentWallet.selector, identities.ownerOf.selector];
        vm.prank(reviewer.addr);
        identities.unsetAgentWallet(reviewerAgentId);
        for (uint256 i = 0; i < questions.length; ++i) {
            vm.mockCallRevert(address(identities), abi.encodeWithSelector(questions[i]), "");
            assertRefused(purchaseOf(buyer), refusal);
            assertRefused(stranger, signCommitted(buyer, PRICE, attribution()), refusal);
            vm.mockCall(address(identities), abi.encodeWithSelector(questions[i]), "");
            assertRefused(purchaseOf(buyer), refusal);
            vm.clearMockedCalls();
        }
        settle(purchaseOf(buyer));
        assertSplit(buyer.addr);
    }

    function test_reverts_whenThePayerWouldBePaidAsTheReviewer() public {
        SplitRouter.Attribution memory attributed = attribution();
        attributed.reviewerAgentId = buyerAgentId;
        assertRefused(
            signPurchase(buyer, PRICE, RECEIVE, attributed),
            abi.encodeWithSelector(ISplitRouterErrors.SelfReferral.selector, buyer.addr, buyerAgentId)
        );
    }

    function test_reverts_whenThePayerIsTheReviewersAgentWallet() public {
        setAgentWallet(reviewer.addr, reviewerAgentId, buyer);
        assertRefused(
            purchaseOf(buyer),
            abi.encodeWithSelector(ISplitRouterErrors.SelfReferral.selector, buyer.addr, reviewerAgentId)
        );
    }

    function test_reverts_whenTheEscrowIsPaused() public {
        vm.prank(guardian);
        escrow.pause();
        assertRefused(purchaseOf(buyer), abi.encodeWithSelector(Pausable.EnforcedPause.selector));
    }

    function test_reverts_whenTheRouterIsNotADepositor() public {
        bytes32 role = escrow.DEPOSITOR_ROLE();
        vm.prank(admin);
        escrow.revokeRole(role, address(router));
        assertRefused(purchaseOf(buyer), missingRole(address(router), "DEPOSITOR_ROLE"));
    }

    // ---- bounds

    function test_reverts_whenThePriceIsZero() public {
        assertRefused(
            signPurchase(buyer, 0, RECEIVE, attribution()), abi.encodeWithSelector(ISplitRouterErrors.ZeroPrice.selector)
        );
    }

    /// @dev More than 18 trillion USDC: beyond it the split could not be reckoned in 256 bits unchecked, nor the ledgers kept in 64.
    function test_reverts_whenThePriceIsBeyondTheLedger() public {
        uint256 price = uint256(type(uint64).max) + 1;
        vm.prank(admin);
        usdc.mint(buyer.addr, price);
        assertRefused(
            signPurchase(buyer, price, RECEIVE, attribution()),
            abi.encodeWithSelector(Split.PriceTooHigh.selector, price, type(uint64).max)
        );
        vm.prank(merchant.addr);
        merchants.setProductTerms(merchantId, PRODUCT, 10_000, 0);
        CommissionEscrow.Terms memory terms = settle(signPurchase(buyer, price - 1, RECEIVE, attribution()));
        assertEq(usdc.balanceOf(address(escrow)), escrow.owed());
        assertGt(terms.heldBack, 0);
    }

    /// [CHAIN-42]
    function test_reverts_whenTheMultiplierIsBelowItsBounds() public {
        assertMultiplierRefused(3_999);
        assertMultiplierRefused(0);
    }

    /// [CHAIN-42]
    function test_reverts_whenTheMultiplierIsAboveItsBounds() public {
        assertMultiplierRefused(10_001);
        assertMultiplierRefused(type(uint16).max);
    }

    /// [CHAIN-42]
    function test_succeeds_whenTheMultiplierIsAtItsBounds() public {
        SplitRouter.Attribution memory attributed = attribution();
        attributed.commissionMultiplierBps = 4_000;
        settle(signPurchase(buyer, PRICE, RECEIVE, attributed));
        assertBalance(merchant.addr, PRICE - 1_000_000, "merchant at 0.4");
        attributed.commissionMultiplierBps = 10_000;
        settle(signPurchase(buyer, PRICE, RECEIVE, attributed));
        assertBalance(merchant.addr, 2 * PRICE - 3_500_000, "merchant at 1.0");
    }

    function test_succeeds_whenCashbackIsAtItsBound() public {
        SplitRouter.Attribution memory attributed = attribution();
        attributed.cashbackOfCommissionBps = 4_000;
        CommissionEscrow.Terms memory terms = settle(signPurchase(buyer, PRICE, RECEIVE, attributed));
        assertEq(terms.cashback, 700_000);
    }

    function testFuzz_reverts_whenCashbackIsAboveItsBound(uint16 cashbackBps) public {
        cashbackBps = uint16(bound(cashbackBps, 4_001, type(uint16).max));
        SplitRouter.Attribution memory attributed = attribution();
        attributed.cashbackOfCommissionBps = cashbackBps;
        assertRefused(
            signPurchase(buyer, PRICE, RECEIVE, attributed),
            abi.encodeWithSelector(ISplitRouterErrors.CashbackTooHigh.selector, cashbackBps, 4_000)
        );
    }

    // ---- the authorisation

    /// [CHAIN-44]
    function test_reverts_whenAnAuthorisationIsUsedTwice() public {
        SplitRouter.Purchase memory purchase = purchaseOf(buyer);
        settle(purchase);
        vm.expectRevert(revertString("FiatTokenV2: authorization is used or canceled"));
        vm.prank(settler);
        router.settle(purchase);
        assertSplit(buyer.addr);
    }

    /// [CHAIN-44]
    function test_reverts_whenANonceIsUsedTwiceWithOtherTerms() public {
        SplitRouter.Purchase memory first = purchaseOf(buyer);
        settle(first);
        SplitRouter.Purchase memory second =
            signPurchase(buyer, 2 * PRICE, TRANSFER, attribution(), first.authorization.nonce);
        vm.expectRevert(revertString("FiatTokenV2: authorization is used or canceled"));
        vm.prank(settler);
        router.settle(second);
        assertSplit(buyer.addr);
    }

    /// [CHAIN-41]
    function test_succeeds_whenARefusedAuthorisationIsSettledLater() public {
        SplitRouter.Purchase memory purchase = purchaseOf(buyer);
        vm.prank(merchant.addr);
        merchants.setActive(merchantId, false);
        assertRefused(purchase, abi.encodeWithSelector(MerchantRegistry.MerchantNotActive.selector, merchantId));
        vm.prank(merchant.addr);
        merchants.setActive(merchantId, true);
        settle(purchase);
        assertSplit(buyer.addr);
    }

    function test_reverts_whenSomebodyElseSigned() public {
        SplitRouter.Purchase memory purchase = purchaseOf(buyer);
        purchase.authorization.signature = sign(reviewer, authorizationDigest(purchase.authorization));
        assertRefused(purchase, revertString("FiatTokenV2: invalid signature"));
    }

    function test_reverts_whenSignedForAnotherPayee() public {
        SplitRouter routerBefore = router;
        router = SplitRouter(stranger);
        SplitRouter.Purchase memory toStranger = purchaseOf(buyer);
        SplitRouter.Purchase memory transferToStranger = transferPurchaseOf(buyer);
        router = routerBefore;
        assertRefused(toStranger, revertString("FiatTokenV2: invalid signature"));
        assertRefused(transferToStranger, revertString("FiatTokenV2: invalid signature"));
    }

    function test_reverts_whenASignedFieldIsAltered() public {
        for (uint256 field = 0; field < 6; ++field) {
            SplitRouter.Purchase memory purchase = purchaseOf(buyer);
            if (field == 0) purchase.authorization.value += 1;
            if (field == 1) purchase.authorization.nonce = keccak256("altered");
            if (field == 2) purchase.authorization.validAfter += 1;
            if (field == 3) purchase.authorization.validBefore += 1;
            if (field == 4) purchase.authorization.from = walletBuyer.addr;
            if (field == 5) purchase.authorization.kind = TRANSFER;
            assertRefused(purchase, revertString("FiatTokenV2: invalid signature"));
        }
    }

    function test_reverts_whenTheAuthorisationIsExpired() public {
        SplitRouter.Purchase memory purchase = purchaseOf(buyer);
        vm.warp(purchase.authorization.validBefore);
        assertRefused(purchase, revertString("FiatTokenV2: authorization is expired"));
    }

    function test_succeeds_whenTheAuthorisationIsInItsLastSecond() public {
        SplitRouter.Purchase memory purchase = purchaseOf(buyer);
        vm.warp(purchase.authorization.validBefore - 1);
        settle(purchase);
        assertSplit(buyer.addr);
    }

    function test_reverts_whenTheAuthorisationIsNotValidYet() public {
        SplitRouter.Purchase memory purchase = purchaseOf(buyer);
        purchase.authorization.validAfter = block.timestamp;
        purchase.authorization.signature = sign(buyer, authorizationDigest(purchase.authorization));
        assertRefused(purchase, revertString("FiatTokenV2: authorization is not yet valid"));
        vm.warp(block.timestamp + 1);
        settle(purchase);
        assertSplit(buyer.addr);
    }

    function test_reverts_whenThePayerHasTooLittle() public {
        assertRefused(
            signPurchase(buyer, FUNDS + 1, RECEIVE, attribution()),
            revertString("ERC20: transfer amount exceeds balance")
        );
    }

    function test_reverts_whenThePayerIsBlocked() public {
        blockAccount(buyer.addr);
        assertRefused(purchaseOf(buyer), revertString("Blacklistable: account is blacklisted"));
    }

    function test_reverts_whenTheAuthorisationIsCancelled() public {
        SplitRouter.Purchase memory purchase = purchaseOf(buyer);
        bytes32 structHash = keccak256(
            abi.encode(usdc.CANCEL_AUTHORIZATION_TYPEHASH(), buyer.addr, purchase.authorization.nonce)
        );
        usdc.cancelAuthorization(
            buyer.addr, purchase.authorization.nonce, sign(buyer, typedDataHash(usdc.DOMAIN_SEPARATOR(), structHash))
        );
        vm.expectRevert(revertString("FiatTokenV2: authorization is used or canceled"));
        vm.prank(settler);
        router.settle(purchase);
        assertBalance(buyer.addr, FUNDS, "buyer");
    }

    // ---- helpers

    function assertMultiplierRefused(uint16 multiplierBps) private {
        SplitRouter.Attribution memory attributed = attribution();
        attributed.commissionMultiplierBps = multiplierBps;
        assertRefused(
            signPurchase(buyer, PRICE, RECEIVE, attributed),
            abi.encodeWithSelector(ISplitRouterErrors.MultiplierOutOfBounds.selector, multiplierBps, 4_000, 10_000)
        );
    }

    /// @dev A contract wallet with money that `owner` signs for.
    function contractWallet(Wallet memory owner) private returns (Wallet memory wallet) {
        wallet = Wallet(address(new ContractWallet(owner.addr)), owner.key);
        vm.prank(admin);
        usdc.mint(wallet.addr, FUNDS);
    }
}
