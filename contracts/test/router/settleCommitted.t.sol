// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ReviewRegistry} from "../../src/ReviewRegistry.sol";
import {SplitRouter} from "../../src/SplitRouter.sol";
import {ISplitRouterErrors} from "../../src/interfaces/ISplitRouterErrors.sol";
import {RouterTest} from "../base/RouterTest.sol";

/// @notice Purchases that anybody may settle, since the payer signed their attribution through the nonce.
contract SettleCommittedTest is RouterTest {
    function test_succeeds_whenAnybodySettlesACommittedPurchase() public {
        SplitRouter.Purchase memory purchase = signCommitted(buyer, PRICE, attribution());
        expectDeposit(buyer.addr, purchase.authorization.nonce);
        vm.prank(stranger);
        router.settle(purchase);
        assertSplit(buyer.addr);
    }

    function test_succeeds_whenTheBuyerSettlesByTransfer() public {
        SplitRouter.Attribution memory attributed = attribution();
        bytes32 nonce = router.attributionNonce(attributed);
        SplitRouter.Purchase memory purchase = signPurchase(buyer, PRICE, TRANSFER, attributed, nonce);
        vm.prank(buyer.addr);
        router.settle(purchase);
        assertSplit(buyer.addr);
    }

    function testFuzz_succeeds_whenTheNonceIsTheHashOfTheAttribution(SplitRouter.Attribution memory attributed)
        public
        view
    {
        bytes32 typehash = keccak256(
            "Attribution(uint256 merchantId,bytes32 productId,uint256 reviewId,uint256 reviewerAgentId,uint256 buyerAgentId,uint16 cashbackOfCommissionBps,uint16 commissionMultiplierBps,bytes32 salt)"
        );
        bytes32 expected = keccak256(
            abi.encode(
                typehash,
                attributed.merchantId,
                attributed.productId,
                attributed.reviewId,
                attributed.reviewerAgentId,
                attributed.buyerAgentId,
                attributed.cashbackOfCommissionBps,
                attributed.commissionMultiplierBps,
                attributed.salt
            )
        );
        assertEq(router.attributionNonce(attributed), expected);
    }

    /// [CHAIN-41]
    function test_reverts_whenAStrangerSettlesAnUncommittedPurchase() public {
        SplitRouter.Purchase memory purchase = purchaseOf(buyer);
        assertNotCommitted(stranger, purchase);
        assertNotCommitted(buyer.addr, purchase);
        assertNotCommitted(merchant.addr, purchase);
        assertNotCommitted(admin, purchase);
    }

    function test_reverts_whenACommittedFieldIsAltered() public {
        for (uint256 field = 0; field < 8; ++field) {
            SplitRouter.Purchase memory purchase = signCommitted(buyer, PRICE, attribution());
            SplitRouter.Attribution memory attributed = purchase.attribution;
            if (field == 0) attributed.merchantId += 1;
            if (field == 1) attributed.productId = keccak256("altered");
            if (field == 2) attributed.reviewId += 1;
            if (field == 3) attributed.reviewerAgentId += 1;
            if (field == 4) attributed.buyerAgentId = type(uint256).max;
            if (field == 5) attributed.cashbackOfCommissionBps -= 1;
            if (field == 6) attributed.commissionMultiplierBps += 1;
            if (field == 7) attributed.salt = keccak256("altered");
            assertNotCommitted(stranger, purchase);
        }
    }

    function test_reverts_whenTheCommittedReviewIsMissing() public {
        SplitRouter.Attribution memory attributed = attribution();
        attributed.reviewId = 404;
        assertRefused(
            stranger,
            signCommitted(buyer, PRICE, attributed),
            abi.encodeWithSelector(ReviewRegistry.ReviewNotFound.selector, 404)
        );
    }

    function test_reverts_whenTheCommittedReviewHasAnotherAuthor() public {
        SplitRouter.Attribution memory attributed = attribution();
        attributed.reviewerAgentId = registerIdentity(stranger);
        assertReviewMismatch(attributed);
    }

    function test_reverts_whenTheCommittedReviewIsAboutAnotherMerchant() public {
        SplitRouter.Attribution memory attributed = attribution();
        attributed.merchantId = registerIdentity(stranger);
        assertReviewMismatch(attributed);
    }

    function test_reverts_whenThePayerOwnsTheReviewerPaidElsewhere() public {
        setAgentWallet(reviewer.addr, reviewerAgentId, makeWallet("reviewer's till"));
        vm.prank(admin);
        usdc.mint(reviewer.addr, FUNDS);
        assertRefused(
            stranger,
            signCommitted(reviewer, PRICE, attribution()),
            abi.encodeWithSelector(ISplitRouterErrors.SelfReferral.selector, reviewer.addr, reviewerAgentId)
        );
    }

    /// @dev Whom it tells to pay is not who owns it: the payer could.
    function test_reverts_whileNobodyCanTellWhoOwnsTheReviewer() public {
        setAgentWallet(reviewer.addr, reviewerAgentId, makeWallet("reviewer's till"));
        vm.prank(admin);
        usdc.mint(reviewer.addr, FUNDS);
        SplitRouter.Purchase[] memory batch = new SplitRouter.Purchase[](2);
        for (uint256 i = 0; i < batch.length; ++i) {
            SplitRouter.Attribution memory attributed = attribution();
            attributed.buyerAgentId = escrow.AGENTLESS();
            batch[i] = signCommitted(i == 0 ? reviewer : buyer, PRICE, attributed);
        }
        bytes memory unreadable =
            abi.encodeWithSelector(ISplitRouterErrors.RegistryUnreadable.selector, reviewerAgentId);
        bytes memory question = abi.encodeCall(identities.ownerOf, (reviewerAgentId));
        bytes[3] memory answers = [bytes(""), abi.encode(type(uint256).max), abi.encodePacked(reviewer.addr)];
        for (uint256 i = 0; i <= answers.length; ++i) {
            if (i == answers.length) vm.mockCallRevert(address(identities), question, "paused");
            else vm.mockCall(address(identities), question, answers[i]);
            for (uint256 k = 0; k < batch.length; ++k) assertRefused(stranger, batch[k], unreadable);
            vm.prank(stranger);
            router.settleBatch(batch);
            assertEq(escrow.lastEscrowId(), 0, "a sale in a batch");
            vm.clearMockedCalls();
        }
        vm.prank(stranger);
        router.settleBatch(batch);
        assertTrue(isSplit(batch[1]) && !isSplit(batch[0]));
    }

    function test_reverts_whenThePayerIsTheReviewersAgentWallet() public {
        setAgentWallet(reviewer.addr, reviewerAgentId, buyer);
        assertRefused(
            stranger,
            signCommitted(buyer, PRICE, attribution()),
            abi.encodeWithSelector(ISplitRouterErrors.SelfReferral.selector, buyer.addr, reviewerAgentId)
        );
    }

    function test_reverts_whenTheBuyerNamesSomebodyElsesAgent() public {
        SplitRouter.Attribution memory attributed = attribution();
        attributed.buyerAgentId = registerIdentity(stranger);
        assertNotTheBuyersAgent(attributed);
    }

    function test_reverts_whenTheBuyerNamesAnAgentThatIsNotThere() public {
        SplitRouter.Attribution memory attributed = attribution();
        attributed.buyerAgentId = 404;
        assertNotTheBuyersAgent(attributed);
    }

    function test_succeeds_whenThePayerIsTheBuyersAgentWallet() public {
        SplitRouter.Attribution memory attributed = attribution();
        attributed.buyerAgentId = registerIdentity(stranger);
        setAgentWallet(stranger, attributed.buyerAgentId, buyer);
        SplitRouter.Purchase memory purchase = signCommitted(buyer, PRICE, attributed);
        vm.prank(stranger);
        router.settle(purchase);
        assertSplit(buyer.addr);
    }

    function test_succeeds_whenAWalletWithoutAnAgentPays() public {
        SplitRouter.Attribution memory attributed = attribution();
        attributed.buyerAgentId = escrow.AGENTLESS();
        SplitRouter.Purchase memory purchase = signCommitted(walletBuyer, PRICE, attributed);
        vm.prank(stranger);
        router.settle(purchase);
        assertSplit(walletBuyer.addr);
    }

    /// @dev Whoever pays gets a proof of purchase; the merchant says what it costs at least.
    function test_reverts_whenThePriceIsBelowTheProductsLeast() public {
        vm.prank(merchant.addr);
        merchants.setProductTerms(merchantId, PRODUCT, COMMISSION_BPS, uint64(PRICE));
        assertRefused(
            stranger,
            signCommitted(buyer, PRICE - 1, attribution()),
            abi.encodeWithSelector(ISplitRouterErrors.PriceTooLow.selector, PRICE - 1, PRICE)
        );
        assertRefused(
            signPurchase(buyer, 1, RECEIVE, attribution()),
            abi.encodeWithSelector(ISplitRouterErrors.PriceTooLow.selector, 1, PRICE)
        );
        buy();
        assertSplit(buyer.addr);
    }

    /// @dev A settler knows the attribution from the token, so it may settle what nothing on chain shows.
    function test_succeeds_whenASettlerVouchesForAnAttribution() public {
        SplitRouter.Attribution memory attributed = attribution();
        attributed.reviewId = 404;
        assertEq(settle(signPurchase(buyer, PRICE, RECEIVE, attributed)).reviewId, 404);
        assertSplit(buyer.addr);
    }

    function test_reverts_whenASettlerLosesTheRole() public {
        bytes32 role = router.SETTLER_ROLE();
        vm.prank(admin);
        router.revokeRole(role, settler);
        assertNotCommitted(settler, purchaseOf(buyer));
    }

    // ---- helpers

    function assertNotCommitted(address caller, SplitRouter.Purchase memory purchase) private {
        bytes32 expected = router.attributionNonce(purchase.attribution);
        assertRefused(
            caller,
            purchase,
            abi.encodeWithSelector(ISplitRouterErrors.NonceNotCommitted.selector, purchase.authorization.nonce, expected)
        );
    }

    function assertNotTheBuyersAgent(SplitRouter.Attribution memory attributed) private {
        assertRefused(
            stranger,
            signCommitted(buyer, PRICE, attributed),
            abi.encodeWithSelector(ISplitRouterErrors.NotTheBuyersAgent.selector, buyer.addr, attributed.buyerAgentId)
        );
    }

    function assertReviewMismatch(SplitRouter.Attribution memory attributed) private {
        assertRefused(
            stranger,
            signCommitted(buyer, PRICE, attributed),
            abi.encodeWithSelector(
                ISplitRouterErrors.ReviewMismatch.selector, reviewId, attributed.reviewerAgentId, attributed.merchantId
            )
        );
    }
}
