// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC721Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {ReviewRegistry} from "../../src/ReviewRegistry.sol";
import {MarketTest} from "../base/MarketTest.sol";
import {ContractWallet} from "../base/Wallets.sol";

contract PublishWithProofTest is MarketTest {
    uint256 private constant PROOF = 77;

    ReviewRegistry.ReviewCommitment private commitment;

    function setUp() public override {
        super.setUp();
        commitment = reviewCommitment(PROOF);
    }

    /// [CHAIN-10]
    function test_succeeds_whenTheOwnerSigned() public {
        bytes memory signature = sign(reviewer, commitmentDigest());
        vm.expectEmit(address(reviews));
        emit ReviewRegistry.ReviewPublished(
            2,
            reviewerAgentId,
            merchantId,
            PRODUCT,
            commitment.contentHash,
            ReviewRegistry.ProofKind.Approved,
            PROOF
        );
        assertEq(publish(PROOF, signature), 2);
        assertEq(reviews.reviewOfProof(PROOF), 2);
        assertTrue(reviews.nonceUsed(reviewerAgentId, PROOF));
        ReviewRegistry.Review memory review = reviews.getReview(2);
        assertEq(review.contentHash, commitment.contentHash);
        assertEq(review.publishedAt, block.timestamp);
        assertEq(uint256(review.proofKind), uint256(ReviewRegistry.ProofKind.Approved));
    }

    /// @dev The digest by the book: domain `ReferrerReviews`, version 1.
    function test_succeeds_whenTheDigestIsTypedData() public view {
        assertEq(reviews.hashCommitment(commitment), commitmentDigest());
    }

    function test_succeeds_whenTheMerchantOrProductIsClosed() public {
        vm.startPrank(merchant.addr);
        merchants.setActive(merchantId, false);
        merchants.setProductActive(merchantId, PRODUCT, false);
        vm.stopPrank();
        assertEq(publish(PROOF, sign(reviewer, commitmentDigest())), 2);
    }

    function test_succeeds_inTheLastSecond() public {
        vm.warp(commitment.expiry);
        assertEq(publish(PROOF, sign(reviewer, commitmentDigest())), 2);
    }

    function test_succeeds_whenAContractOwnerSigned() public {
        address wallet = address(new ContractWallet(reviewer.addr));
        transferIdentity(reviewer.addr, wallet, reviewerAgentId);
        assertEq(publish(PROOF, sign(reviewer, commitmentDigest())), 2);
    }

    /// @dev An EIP-7702 account keeps its key, though it has code that says no.
    function test_succeeds_whenTheOwnersAccountDelegatesToCode() public {
        address code = address(new ContractWallet(stranger));
        vm.etch(reviewer.addr, abi.encodePacked(hex"ef0100", code));
        assertEq(publish(PROOF, sign(reviewer, commitmentDigest())), 2);
    }

    /// @dev And the code's word counts as well.
    function test_succeeds_whenTheDelegatedCodeAccepts() public {
        address code = address(new ContractWallet(stranger));
        vm.etch(reviewer.addr, abi.encodePacked(hex"ef0100", code));
        assertEq(publish(PROOF, sign(makeWallet("stranger"), commitmentDigest())), 2);
    }

    function test_reverts_whenTheProofWasUsed() public {
        commitment.nonce = 5;
        vm.expectRevert(abi.encodeWithSelector(ReviewRegistry.ProofAlreadyUsed.selector, 1, reviewId));
        publish(1, sign(reviewer, commitmentDigest()));
    }

    function test_reverts_whenTheNonceWasUsed() public {
        bytes memory signature = sign(reviewer, commitmentDigest());
        publish(PROOF, signature);
        vm.expectRevert(
            abi.encodeWithSelector(ReviewRegistry.CommitmentNonceUsed.selector, reviewerAgentId, PROOF)
        );
        publish(PROOF + 1, signature);
    }

    function test_reverts_whenTheCommitmentIsExpired() public {
        vm.warp(commitment.expiry + 1);
        bytes memory signature = sign(reviewer, commitmentDigest());
        vm.expectRevert(
            abi.encodeWithSelector(
                ReviewRegistry.CommitmentExpired.selector, commitment.expiry, commitment.expiry + 1
            )
        );
        publish(PROOF, signature);
    }

    function test_reverts_whenTheProductIsNotListed() public {
        commitment.productId = keccak256("other");
        bytes memory signature = sign(reviewer, commitmentDigest());
        vm.expectRevert(
            abi.encodeWithSelector(ReviewRegistry.ProductNotListed.selector, merchantId, keccak256("other"))
        );
        publish(PROOF, signature);
    }

    function test_reverts_whenTheAgentDoesNotExist() public {
        commitment.agentId = 404;
        bytes memory signature = sign(reviewer, commitmentDigest());
        vm.expectRevert(abi.encodeWithSelector(IERC721Errors.ERC721NonexistentToken.selector, 404));
        publish(PROOF, signature);
    }

    function test_reverts_whenSomebodyElseSigned() public {
        bytes memory signature = sign(buyer, commitmentDigest());
        expectInvalidSignature();
        publish(PROOF, signature);
    }

    function test_reverts_whenTheFormerOwnerSigned() public {
        transferIdentity(reviewer.addr, stranger, reviewerAgentId);
        bytes memory signature = sign(reviewer, commitmentDigest());
        vm.expectRevert(abi.encodeWithSelector(ReviewRegistry.InvalidCommitmentSignature.selector, stranger));
        publish(PROOF, signature);
    }

    function test_reverts_whenASignedFieldIsAltered() public {
        bytes memory signature = sign(reviewer, commitmentDigest());
        commitment.contentHash = keccak256("altered");
        expectInvalidSignature();
        publish(PROOF, signature);
        commitment = reviewCommitment(PROOF + 1);
        expectInvalidSignature();
        publish(PROOF, signature);
        commitment = reviewCommitment(PROOF);
        commitment.expiry += 1;
        expectInvalidSignature();
        publish(PROOF, signature);
    }

    function test_reverts_whenNotAPublisherCalls() public {
        bytes memory signature = sign(reviewer, commitmentDigest());
        vm.expectRevert(missingRole(reviewer.addr, "PUBLISHER_ROLE"));
        vm.prank(reviewer.addr);
        reviews.publishWithProof(PROOF, commitment, signature);
    }

    /// @dev A review's ids are stored narrow; an id that does not fit is refused, never cut.
    function test_reverts_whenAnIdDoesNotFit() public {
        commitment.agentId = 1 << 80;
        vm.mockCall(
            address(identities),
            abi.encodeWithSelector(identities.ownerOf.selector, commitment.agentId),
            abi.encode(reviewer.addr)
        );
        bytes memory signature = sign(reviewer, commitmentDigest());
        vm.expectRevert(abi.encodeWithSelector(SafeCast.SafeCastOverflowedUintDowncast.selector, 80, 1 << 80));
        publish(PROOF, signature);
    }

    function test_reverts_whenReadingAReviewThatIsNotThere() public {
        vm.expectRevert(abi.encodeWithSelector(ReviewRegistry.ReviewNotFound.selector, 404));
        reviews.getReview(404);
        vm.expectRevert(abi.encodeWithSelector(ReviewRegistry.ReviewNotFound.selector, 0));
        reviews.authorOf(0);
    }

    // ---- helpers

    function publish(uint256 proofId, bytes memory signature) private returns (uint256) {
        vm.prank(publisher);
        return reviews.publishWithProof(proofId, commitment, signature);
    }

    function commitmentDigest() private view returns (bytes32) {
        bytes32 typehash = keccak256(
            "ReviewCommitment(uint256 agentId,uint256 merchantId,bytes32 productId,bytes32 contentHash,uint256 nonce,uint256 expiry)"
        );
        return typedDataHash(
            domainSeparator("ReferrerReviews", "1", address(reviews)), keccak256(abi.encode(typehash, commitment))
        );
    }

    function expectInvalidSignature() private {
        vm.expectRevert(abi.encodeWithSelector(ReviewRegistry.InvalidCommitmentSignature.selector, reviewer.addr));
    }
}
