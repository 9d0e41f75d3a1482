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

/// @title Registry of published reviews and their proofs
/// @notice A review is published on one of two proofs, and each proof carries one review: an escrow (the author bought the
/// product) or an approved proof (the service checked it, and the author's owner signed a `ReviewCommitment`). The chain stores
/// the hash of the text, not the text.
contract ReviewRegistry is Roles, EIP712 {
    using Identities for IIdentityRegistry;
    using SafeCast for uint256;

    /// @notice On what a review rests: nothing (`None`, no such review), a proof that the service approved, or a purchase.
    enum ProofKind {
        None,
        Approved,
        Escrow
    }

    /// @notice A published review.
    /// @param agentId The author
    /// @param merchantId The merchant that the review is about
    /// @param publishedAt Block timestamp of publication, in Unix seconds
    /// @param editedAt Block timestamp of the last edit, in Unix seconds; zero when never edited
    /// @param proofKind On what the review rests
    /// @param productId The product that the review is about
    /// @param contentHash Hash of the present text, see `hashContent`
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
    /// @param agentId The author
    /// @param merchantId The merchant that the review is about
    /// @param productId The product that the review is about
    /// @param contentHash Hash of the text, see `hashContent`
    /// @param nonce Any number that was not used for this agent before
    /// @param expiry Unix seconds; publication is refused after this block timestamp
    struct ReviewCommitment {
        uint256 agentId;
        uint256 merchantId;
        bytes32 productId;
        bytes32 contentHash;
        uint256 nonce;
        uint256 expiry;
    }

    /// @notice The EIP-712 type hash of `ReviewCommitment`.
    bytes32 public constant REVIEW_COMMITMENT_TYPEHASH = keccak256(
        "ReviewCommitment(uint256 agentId,uint256 merchantId,bytes32 productId,bytes32 contentHash,uint256 nonce,uint256 expiry)"
    );
    /// @notice Seconds after publication in which the author may edit a buyer's review.
    uint256 public constant EDIT_WINDOW = 7 days;

    /// @notice Knows which escrow contracts the protocol uses or used.
    AddressRegistry public immutable ADDRESSES;
    /// @notice The registry whose identities authors are.
    IIdentityRegistry public immutable IDENTITIES;
    /// @notice Knows which products are listed.
    MerchantRegistry public immutable MERCHANTS;

    /// @notice The id of the newest review; ids count from 1.
    uint256 public lastReviewId;
    /// @notice The review published on an approved proof; zero when there is none.
    mapping(uint256 proofId => uint256) public reviewOfProof;
    /// @notice The review published on an escrow; zero when there is none. Keyed by escrow contract, because a successor counts
    /// from 1 again.
    mapping(address escrow => mapping(uint256 escrowId => uint256)) public reviewOfEscrow;
    /// @notice Whether an agent's commitment nonce was used.
    mapping(uint256 agentId => mapping(uint256 nonce => bool)) public nonceUsed;

    mapping(uint256 reviewId => Review) private _reviews;

    /// @notice A review was published.
    /// @param reviewId Id of the review, counted from 1
    /// @param agentId The author
    /// @param merchantId The merchant that the review is about
    /// @param productId The product that the review is about
    /// @param contentHash Hash of the text, see `hashContent`
    /// @param proofKind On what the review rests
    /// @param proofId The service's id of the proof, or the escrow id, depending on `proofKind`
    event ReviewPublished(
        uint256 indexed reviewId,
        uint256 indexed agentId,
        uint256 indexed merchantId,
        bytes32 productId,
        bytes32 contentHash,
        ProofKind proofKind,
        uint256 proofId
    );
    /// @notice The author replaced the text of a buyer's review.
    /// @param reviewId Id of the review
    /// @param agentId The author
    /// @param previousHash Hash of the replaced text
    /// @param contentHash Hash of the text from now on
    /// @param editedAt Block timestamp of the edit, in Unix seconds
    event ReviewContentEdited(
        uint256 indexed reviewId, uint256 indexed agentId, bytes32 previousHash, bytes32 contentHash, uint256 editedAt
    );

    /// @notice There is no review with this id.
    /// @dev Use an id from `ReviewPublished`; ids run from 1 to `lastReviewId`.
    /// @param reviewId The id that was asked for
    error ReviewNotFound(uint256 reviewId);
    /// @notice The caller does not own the agent that wrote or is to write the review.
    /// @dev Send the transaction from the account that `IDENTITIES.ownerOf(agentId)` returns. A purchase without an agent has
    /// to be bound to one (`CommissionEscrow.bind`) before it can be reviewed.
    /// @param caller Who called
    /// @param agentId The author's id
    error NotAgentOwner(address caller, uint256 agentId);
    /// @notice The contract given as the escrow was never the protocol's escrow contract.
    /// @dev Pass the contract that emitted `EscrowDeposited` for the purchase; the address registry knows it under
    /// `COMMISSION_ESCROW`.
    /// @param escrow The refused address
    error UnknownEscrow(address escrow);
    /// @notice The proof already carries a review.
    /// @dev Do not publish again. A buyer edits the existing review with `editContent`; a review on an approved proof needs
    /// another proof.
    /// @param proofId The service's id of the proof, or the escrow id
    /// @param reviewId The review that it carries
    error ProofAlreadyUsed(uint256 proofId, uint256 reviewId);
    /// @notice The commitment names a product that the merchant never listed.
    /// @dev Check merchant and product id; the merchant lists products with `MerchantRegistry.listProduct`.
    /// @param merchantId Id of the merchant
    /// @param productId The product's id within the merchant
    error ProductNotListed(uint256 merchantId, bytes32 productId);
    /// @notice The commitment expired before it was published.
    /// @dev Ask the owner of the agent for a new signature with a later expiry.
    /// @param expiry Unix seconds until which the commitment counted
    /// @param timestamp The block timestamp, in Unix seconds
    error CommitmentExpired(uint256 expiry, uint256 timestamp);
    /// @notice A commitment of this agent with this nonce was published before.
    /// @dev Check whether the review is published already; for another review the owner signs another nonce.
    /// @param agentId The author
    /// @param nonce The used nonce
    error CommitmentNonceUsed(uint256 agentId, uint256 nonce);
    /// @notice The signature over the commitment is not the present owner's.
    /// @dev Have `owner` sign the digest of `hashCommitment`. A signature made before the identity changed hands does not
    /// count.
    /// @param owner The present owner of the author's identity, who must sign
    error InvalidCommitmentSignature(address owner);
    /// @notice An edit was requested for a review that rests on an approved proof.
    /// @dev Such a review cannot be edited; publish another one on another proof.
    /// @param reviewId Id of the review
    error NotAnEscrowReview(uint256 reviewId);
    /// @notice An edit was requested after the edit window.
    /// @dev The text is final; do not retry.
    /// @param closedAt The last block timestamp at which the edit was possible, in Unix seconds
    /// @param timestamp The block timestamp, in Unix seconds
    error EditWindowClosed(uint256 closedAt, uint256 timestamp);
    /// @notice The new hash is the present one.
    /// @dev Nothing to do: the review already has this text.
    /// @param contentHash The hash that the review has
    error ContentUnchanged(bytes32 contentHash);

    /// @param admin The first admin of the roles, not zero
    /// @param adminDelay Seconds between the two steps of an admin transfer
    /// @param addresses Knows which escrow contracts the protocol uses or used
    /// @param identities The ERC-8004 registry whose identities authors are
    /// @param merchants Knows which products are listed
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
    /// @param escrow The protocol's present escrow contract, or the replaced one that holds the purchase
    /// @param terms The escrow's present terms; author, merchant and product are taken from them
    /// @param contentHash Hash of the text, see `hashContent`
    /// @return reviewId Id of the new review
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

    /// @notice Publishes a review on a proof that the service approved. Only the publisher may call it, with the signature of
    /// the agent's owner.
    /// @param proofId The service's id of the proof
    /// @param commitment What the owner signed
    /// @param signature EIP-712 signature of the agent's owner over the commitment: of its key, or by ERC-1271
    /// @return reviewId Id of the new review
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

    /// @notice Replaces the text of a buyer's review within the edit window. Only the owner of the author's identity may call
    /// it.
    /// @param reviewId Id of the review, counted from 1
    /// @param contentHash Hash of the new text, see `hashContent`; must differ from the present one
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

    /// @notice A published review. Reverts when there is no such review.
    /// @param reviewId Id of the review, counted from 1
    /// @return review The review as it is now
    function getReview(uint256 reviewId) external view returns (Review memory review) {
        review = _reviews[reviewId];
        if (review.proofKind == ProofKind.None) revert ReviewNotFound(reviewId);
    }

    /// @notice The author of a review and the merchant it is about. Reverts when there is no such review.
    /// @param reviewId Id of the review, counted from 1
    /// @return agentId The author
    /// @return merchantId The merchant that the review is about
    function authorOf(uint256 reviewId) external view returns (uint256 agentId, uint256 merchantId) {
        Review storage review = _reviews[reviewId];
        if (review.proofKind == ProofKind.None) revert ReviewNotFound(reviewId);
        return (review.agentId, review.merchantId);
    }

    /// @notice The hash under which a review's text is published: keccak256 of the ABI-encoded arguments.
    /// @param agentId The author
    /// @param merchantId The merchant that the review is about
    /// @param productId The product that the review is about
    /// @param content The whole text of the review
    /// @return The content hash
    function hashContent(uint256 agentId, uint256 merchantId, bytes32 productId, string calldata content)
        external
        pure
        returns (bytes32)
    {
        return keccak256(abi.encode(agentId, merchantId, productId, content));
    }

    /// @notice The EIP-712 digest that the owner of the agent signs.
    /// @param commitment The commitment
    /// @return The digest, for this chain and this contract
    function hashCommitment(ReviewCommitment calldata commitment) public view returns (bytes32) {
        return _hashTypedDataV4(keccak256(abi.encode(REVIEW_COMMITMENT_TYPEHASH, commitment)));
    }

    // ---- internal

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
