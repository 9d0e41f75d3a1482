// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {AddressRegistry} from "./AddressRegistry.sol";
import {CommissionEscrow} from "./CommissionEscrow.sol";
import {MerchantRegistry} from "./MerchantRegistry.sol";
import {Roles} from "./base/Roles.sol";
import {IIdentityRegistry} from "./interfaces/IIdentityRegistry.sol";
import {AddressKeys} from "./libraries/AddressKeys.sol";
import {Identities} from "./libraries/Identities.sol";
import {Signatures} from "./libraries/Signatures.sol";

/// @title Who reviewed what, and on what proof
/// @notice A review is published on one of two proofs, each good for one review: an escrow (the author bought the product) or an
/// approved proof (the service checked it, and the author's owner signed a `ReviewCommitment`). The text lives elsewhere; its hash is here.
contract ReviewRegistry is Roles, EIP712 {
    using Identities for IIdentityRegistry;
    using SafeCast for uint256;

    enum ProofKind {
        None,
        Approved,
        Escrow
    }

    struct Review {
        uint80 agentId;
        uint80 merchantId;
        uint40 publishedAt;
        uint40 editedAt;
        ProofKind proofKind;
        bytes32 productId;
        bytes32 contentHash;
    }

    /// @notice What the author's owner signs for a review on an approved proof.
    struct ReviewCommitment {
        uint256 agentId;
        uint256 merchantId;
        bytes32 productId;
        bytes32 contentHash;
        uint256 nonce;
        uint256 expiry;
    }

    bytes32 public constant REVIEW_COMMITMENT_TYPEHASH = keccak256(
        "ReviewCommitment(uint256 agentId,uint256 merchantId,bytes32 productId,bytes32 contentHash,uint256 nonce,uint256 expiry)"
    );
    /// @notice How long after publication an author may still edit.
    uint256 public constant EDIT_WINDOW = 7 days;

    AddressRegistry public immutable ADDRESSES;
    IIdentityRegistry public immutable IDENTITIES;
    MerchantRegistry public immutable MERCHANTS;

    /// @notice The id of the newest review; ids count from 1.
    uint256 public lastReviewId;
    /// @notice The review published on an approved proof; zero when none.
    mapping(uint256 proofId => uint256) public reviewOfProof;
    /// @notice The review published on an escrow; zero when none. By escrow contract, since its successor counts from 1 again.
    mapping(address escrow => mapping(uint256 escrowId => uint256)) public reviewOfEscrow;
    /// @notice Whether an agent's commitment nonce was used.
    mapping(uint256 agentId => mapping(uint256 nonce => bool)) public nonceUsed;

    mapping(uint256 reviewId => Review) private _reviews;

    /// @param proofId The approved proof's id or the escrow's, by `proofKind`
    event ReviewPublished(
        uint256 indexed reviewId,
        uint256 indexed agentId,
        uint256 indexed merchantId,
        bytes32 productId,
        bytes32 contentHash,
        ProofKind proofKind,
        uint256 proofId
    );
    event ReviewContentEdited(
        uint256 indexed reviewId, uint256 indexed agentId, bytes32 previousHash, bytes32 contentHash, uint256 editedAt
    );

    error ReviewNotFound(uint256 reviewId);
    error NotAgentOwner(address caller, uint256 agentId);
    error UnknownEscrow(address escrow);
    error ProofAlreadyUsed(uint256 proofId, uint256 reviewId);
    error ProductNotListed(uint256 merchantId, bytes32 productId);
    error CommitmentExpired(uint256 expiry, uint256 timestamp);
    error CommitmentNonceUsed(uint256 agentId, uint256 nonce);
    error InvalidCommitmentSignature(address owner);
    error NotAnEscrowReview(uint256 reviewId);
    error EditWindowClosed(uint256 closedAt, uint256 timestamp);
    error ContentUnchanged(bytes32 contentHash);

    constructor(
        address admin,
        uint48 adminDelay,
        AddressRegistry addresses,
        IIdentityRegistry identities,
        MerchantRegistry merchants
    ) Roles(admin, adminDelay) EIP712("ReferrerReviews", "1") {
        ADDRESSES = addresses;
        IDENTITIES = identities;
        MERCHANTS = merchants;
    }

    // ---- publishing

    /// @notice Publishes a buyer's review of what it bought. The caller owns the agent that the escrow names as the buyer.
    /// @param escrow The protocol's escrow contract, or the earlier one in which the purchase lies
    /// @param terms The escrow's present terms; merchant and product are taken from them
    /// @param contentHash See `hashContent`
    function publishWithEscrow(CommissionEscrow escrow, CommissionEscrow.Terms calldata terms, bytes32 contentHash)
        external
        returns (uint256 reviewId)
    {
        if (!ADDRESSES.wasNamed(AddressKeys.COMMISSION_ESCROW, address(escrow))) revert UnknownEscrow(address(escrow));
        escrow.requireTerms(terms);
        _requireAgentOwner(terms.buyerAgentId);
        uint256 previous = reviewOfEscrow[address(escrow)][terms.escrowId];
        if (previous != 0) revert ProofAlreadyUsed(terms.escrowId, previous);
        reviewId = _publish(
            terms.buyerAgentId, terms.merchantId, terms.productId, contentHash, ProofKind.Escrow, terms.escrowId
        );
        reviewOfEscrow[address(escrow)][terms.escrowId] = reviewId;
    }

    /// @notice Publishes a review on a proof that the service approved, with the owner's signature.
    /// @param proofId The service's id of the proof
    /// @param signature The agent owner's over the commitment
    function publishWithProof(uint256 proofId, ReviewCommitment calldata commitment, bytes calldata signature)
        external
        onlyRole(PUBLISHER_ROLE)
        returns (uint256 reviewId)
    {
        uint256 previous = reviewOfProof[proofId];
        if (previous != 0) revert ProofAlreadyUsed(proofId, previous);
        if (block.timestamp > commitment.expiry) revert CommitmentExpired(commitment.expiry, block.timestamp);
        if (nonceUsed[commitment.agentId][commitment.nonce]) {
            revert CommitmentNonceUsed(commitment.agentId, commitment.nonce);
        }
        if (!MERCHANTS.getProduct(commitment.merchantId, commitment.productId).listed) {
            revert ProductNotListed(commitment.merchantId, commitment.productId);
        }
        address owner = IDENTITIES.ownerOf(commitment.agentId);
        if (!Signatures.isValid(owner, hashCommitment(commitment), signature)) {
            revert InvalidCommitmentSignature(owner);
        }
        nonceUsed[commitment.agentId][commitment.nonce] = true;
        reviewId = _publish(
            commitment.agentId,
            commitment.merchantId,
            commitment.productId,
            commitment.contentHash,
            ProofKind.Approved,
            proofId
        );
        reviewOfProof[proofId] = reviewId;
    }

    // ---- editing

    /// @notice Replaces the content of a buyer's review within the edit window.
    function editContent(uint256 reviewId, bytes32 contentHash) external {
        Review storage review = _reviews[reviewId];
        if (review.proofKind == ProofKind.None) revert ReviewNotFound(reviewId);
        _requireAgentOwner(review.agentId);
        if (review.proofKind != ProofKind.Escrow) revert NotAnEscrowReview(reviewId);
        uint256 closedAt = review.publishedAt + EDIT_WINDOW;
        if (block.timestamp > closedAt) revert EditWindowClosed(closedAt, block.timestamp);
        bytes32 previousHash = review.contentHash;
        if (previousHash == contentHash) revert ContentUnchanged(contentHash);
        review.contentHash = contentHash;
        review.editedAt = uint40(block.timestamp);
        emit ReviewContentEdited(reviewId, review.agentId, previousHash, contentHash, block.timestamp);
    }

    // ---- reading

    /// @notice A published review.
    function getReview(uint256 reviewId) external view returns (Review memory review) {
        review = _reviews[reviewId];
        if (review.proofKind == ProofKind.None) revert ReviewNotFound(reviewId);
    }

    /// @notice Who wrote a review, and about whom.
    function authorOf(uint256 reviewId) external view returns (uint256 agentId, uint256 merchantId) {
        Review storage review = _reviews[reviewId];
        if (review.proofKind == ProofKind.None) revert ReviewNotFound(reviewId);
        return (review.agentId, review.merchantId);
    }

    /// @notice The hash under which a review's content is committed.
    function hashContent(uint256 agentId, uint256 merchantId, bytes32 productId, string calldata content)
        external
        pure
        returns (bytes32)
    {
        return keccak256(abi.encode(agentId, merchantId, productId, content));
    }

    /// @notice The EIP-712 digest that the owner signs.
    function hashCommitment(ReviewCommitment calldata commitment) public view returns (bytes32) {
        return _hashTypedDataV4(keccak256(abi.encode(REVIEW_COMMITMENT_TYPEHASH, commitment)));
    }

    // ---- inside

    function _publish(
        uint256 agentId,
        uint256 merchantId,
        bytes32 productId,
        bytes32 contentHash,
        ProofKind proofKind,
        uint256 proofId
    ) private returns (uint256 reviewId) {
        reviewId = ++lastReviewId;
        _reviews[reviewId] = Review({
            agentId: agentId.toUint80(),
            merchantId: merchantId.toUint80(),
            publishedAt: uint40(block.timestamp),
            editedAt: 0,
            proofKind: proofKind,
            productId: productId,
            contentHash: contentHash
        });
        emit ReviewPublished(reviewId, agentId, merchantId, productId, contentHash, proofKind, proofId);
    }

    function _requireAgentOwner(uint256 agentId) private view {
        if (IDENTITIES.findOwner(agentId) != msg.sender) revert NotAgentOwner(msg.sender, agentId);
    }
}
