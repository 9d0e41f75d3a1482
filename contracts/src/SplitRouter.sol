// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {CommissionEscrow} from "./CommissionEscrow.sol";
import {MerchantRegistry} from "./MerchantRegistry.sol";
import {ReviewRegistry} from "./ReviewRegistry.sol";
import {Payouts} from "./base/Payouts.sol";
import {Roles} from "./base/Roles.sol";
import {ICommissionEscrowErrors} from "./interfaces/ICommissionEscrowErrors.sol";
import {IIdentityRegistry} from "./interfaces/IIdentityRegistry.sol";
import {ISplitRouterErrors} from "./interfaces/ISplitRouterErrors.sol";
import {IUSDC} from "./interfaces/IUSDC.sol";
import {Identities} from "./libraries/Identities.sol";
import {Signatures} from "./libraries/Signatures.sol";
import {Split} from "./libraries/Split.sol";

/// @title Splits a purchase among merchant, reviewer, buyer and platform
/// @notice A buyer pays this contract with an EIP-3009 authorisation. In the same transaction the merchant and the reviewer get
/// their shares, and the escrow gets what waits and the platform's fee. Between transactions the router holds only deferred
/// payouts and payments that arrived without being split.
/// @dev The only foreign code that a call can reach is the signature check of a contract wallet, and only by static call.
contract SplitRouter is ISplitRouterErrors, Roles, Payouts, EIP712 {
    using Identities for IIdentityRegistry;
    using SafeERC20 for IUSDC;

    /// @notice `Receive` can be redeemed by this contract only and is preferred. `Transfer` is what standard x402 clients sign;
    /// anyone can submit it to the token.
    enum AuthorizationType {
        Receive,
        Transfer
    }

    /// @notice An EIP-3009 authorisation to this contract.
    /// @param kind Which of the two EIP-3009 messages the payer signed
    /// @param from The payer, who signed
    /// @param value The payment, in USDC base units
    /// @param validAfter Unix seconds; the block timestamp must be later
    /// @param validBefore Unix seconds; the block timestamp must be earlier
    /// @param nonce Chosen by the payer; each can be used once per payer
    /// @param signature The payer's EIP-712 signature: 65 bytes `r, s, v`, or the ERC-1271 signature of a contract wallet
    struct Authorization {
        AuthorizationType kind;
        address from;
        uint256 value;
        uint256 validAfter;
        uint256 validBefore;
        bytes32 nonce;
        bytes signature;
    }

    /// @notice To whom a sale is attributed, and on what terms.
    /// @param merchantId The merchant that sells
    /// @param productId The product that is sold
    /// @param reviewId The review whose link the buyer followed
    /// @param reviewerAgentId The agent that wrote the review
    /// @param buyerAgentId The buying agent, or the escrow's `AGENTLESS`
    /// @param cashbackOfCommissionBps The buyer's share in basis points of the commission, 0 to 4000
    /// @param commissionMultiplierBps The rank multiplier on the product's commission rate in basis points, 4000 to 10000
    /// @param salt Makes the nonce unique where the nonce commits to the attribution; otherwise unused
    struct Attribution {
        uint256 merchantId;
        bytes32 productId;
        uint256 reviewId;
        uint256 reviewerAgentId;
        uint256 buyerAgentId;
        uint16 cashbackOfCommissionBps;
        uint16 commissionMultiplierBps;
        bytes32 salt;
    }

    /// @notice A payment and what it is for.
    /// @param authorization The payment
    /// @param attribution To whom the sale is attributed
    struct Purchase {
        Authorization authorization;
        Attribution attribution;
    }

    /// @notice A plain transfer to this contract that the payer asks to have split.
    /// @param txHash Hash of the transaction that made the transfer
    /// @param payer The wallet that sent the transfer
    /// @param value The transfer, in USDC base units
    /// @param tokenHash keccak256 of the attribution token's text
    /// @param signature The payer's EIP-712 signature over `ChargeCommitment`: of its key, or by ERC-1271
    struct Charge {
        bytes32 txHash;
        address payer;
        uint256 value;
        bytes32 tokenHash;
        bytes signature;
    }

    /// @notice The EIP-712 type hash of `Attribution`.
    bytes32 public constant ATTRIBUTION_TYPEHASH = keccak256(
        "Attribution(uint256 merchantId,bytes32 productId,uint256 reviewId,uint256 reviewerAgentId,uint256 buyerAgentId,uint16 cashbackOfCommissionBps,uint16 commissionMultiplierBps,bytes32 salt)"
    );
    /// @notice The EIP-712 type hash of `ChargeCommitment`.
    bytes32 public constant CHARGE_COMMITMENT_TYPEHASH = keccak256(
        "ChargeCommitment(bytes32 txHash,bytes32 tokenHash,uint256 buyerAgentId,address payer)"
    );
    /// @notice The EIP-712 type hash of `TakeBack`, the permission of a settler to take a payment back.
    bytes32 public constant TAKE_BACK_TYPEHASH =
        keccak256("TakeBack(address payer,bytes32 nonce,uint256 value,uint256 notBefore)");
    bytes32 private constant TRANSFER_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );

    /// @notice The gas limit of each purchase of a batch. The batch reverts rather than give one less.
    /// @dev Enough for any purchase of an account without code, its payouts refused by the token included. 64 of them with all of their
    /// gas fit into a transaction (2^24 gas, EIP-7825), so a batch can be sent that no payer can make revert. The signature check of a
    /// contract wallet may need more: such a purchase is settled alone.
    uint256 public constant GAS_PER_PURCHASE = 230_000;
    /// @notice How long after its `validBefore` a payment that arrived can still be split, in seconds. After that it is its payer's to
    /// take back.
    uint256 public constant FINISH_WINDOW = 1 hours;

    /// @notice The registry whose identities buyers and reviewers are.
    IIdentityRegistry public immutable IDENTITIES;
    /// @notice Knows the terms of sale of each product.
    MerchantRegistry public immutable MERCHANTS;
    /// @notice Knows the author of each review.
    ReviewRegistry public immutable REVIEWS;
    /// @notice Holds what waits, and the record of every split payment.
    CommissionEscrow public immutable ESCROW;
    /// @notice The platform's share of a commission, in basis points.
    uint256 public immutable FEE_BPS;
    /// @notice The part of a reviewer's share that waits in escrow, in basis points.
    uint256 public immutable HELD_BACK_BPS;

    /// @notice Whether a payment went back to its payer. (Payments that were split are recorded in the escrow.)
    mapping(address payer => mapping(bytes32 nonce => bool)) public refunded;

    /// @notice A payment that was not split went back to its payer.
    /// @param payer The wallet that paid
    /// @param nonce The payment's nonce; `chargeNonce` of the transaction for a plain transfer
    /// @param value The payment, in USDC base units
    event PaymentRefunded(address indexed payer, bytes32 indexed nonce, uint256 value);
    /// @notice A purchase of a batch failed and changed nothing; the others are not affected.
    /// @param payer The payer of the purchase
    /// @param nonce The payment's nonce
    /// @param reason The revert data of `settle`; empty when it ran out of its gas
    event PurchaseFailed(address indexed payer, bytes32 indexed nonce, bytes reason);

    /// @param admin The first admin of the roles, not zero
    /// @param adminDelay Seconds between the two steps of an admin transfer
    /// @param identities The ERC-8004 registry whose identities buyers and reviewers are
    /// @param merchants Knows the terms of sale of each product
    /// @param reviews Knows the author of each review
    /// @param escrow Holds what waits; its token becomes the router's
    /// @param feeBps The platform's share of a commission in basis points, 0 to 6000
    /// @param heldBackBps The part of a reviewer's share that waits in escrow, in basis points, 0 to 10000
    constructor(
        address admin,
        uint48 adminDelay,
        IIdentityRegistry identities,
        MerchantRegistry merchants,
        ReviewRegistry reviews,
        CommissionEscrow escrow,
        uint256 feeBps,
        uint256 heldBackBps
    ) Roles(admin, adminDelay) Payouts(escrow.TOKEN()) EIP712("ReferrerCharge", "1") {
        if (feeBps + Split.MAX_CASHBACK_BPS > Split.BPS || heldBackBps > Split.BPS) {
            revert InvalidShares(feeBps, heldBackBps);
        }
        IDENTITIES = identities;
        MERCHANTS = merchants;
        REVIEWS = reviews;
        ESCROW = escrow;
        FEE_BPS = feeBps;
        HELD_BACK_BPS = heldBackBps;
    }

    // ---- settling

    /// @notice Redeems a payment and splits it. A settler may settle any purchase. Anyone else may settle one whose nonce
    /// commits to its attribution, where the caller has nothing left to choose.
    /// @param purchase The payment and its attribution
    /// @return escrowId Id of the new escrow
    function settle(Purchase calldata purchase) external returns (uint256 escrowId) {
        if (!hasRole(SETTLER_ROLE, msg.sender)) _requireCommitted(purchase);
        return _settle(purchase);
    }

    /// @notice Settles many purchases; each succeeds or fails independently. Each emits `EscrowDeposited` or `PurchaseFailed`.
    /// @param purchases The payments and their attributions
    function settleBatch(Purchase[] calldata purchases) external {
        bool trusted = hasRole(SETTLER_ROLE, msg.sender);
        for (uint256 i = 0; i < purchases.length; ++i) {
            // Without this check, a caller who sends too little gas could make valid purchases fail.
            uint256 needed = GAS_PER_PURCHASE + GAS_PER_PURCHASE / 32;
            if (gasleft() < needed) revert NotEnoughGas(gasleft(), needed);
            try this.settleOne{gas: GAS_PER_PURCHASE}(purchases[i], trusted) {}
            catch (bytes memory reason) {
                emit PurchaseFailed(
                    purchases[i].authorization.from, purchases[i].authorization.nonce, reason
                );
            }
        }
    }

    /// @notice Settles one purchase of `settleBatch`. Only this contract may call it.
    /// @param purchase The payment and its attribution
    /// @param trusted Whether a settler called `settleBatch`; if not, the nonce has to commit to the attribution
    function settleOne(Purchase calldata purchase, bool trusted) external {
        if (msg.sender != address(this)) revert OnlySelf(msg.sender);
        if (!trusted) _requireCommitted(purchase);
        _settle(purchase);
    }

    // ---- payments that arrived without being split

    /// @notice Splits a payment that somebody else submitted to the token first, so that the money lies here unsplit. Only a
    /// settler may call it, until `FINISH_WINDOW` after the authorisation's end.
    /// @dev The token cannot tell a used nonce from a cancelled one, and money carries no label: the settler verifies in the
    /// transaction's logs that this authorisation moved the money. The checks here bound what a wrong settler can do: the payer
    /// signed exactly this payment to this router, it was never split or refunded, and nobody else's money is needed.
    /// @param purchase The payment, of kind `Transfer`, and its attribution
    /// @return escrowId Id of the new escrow
    function finish(Purchase calldata purchase) external onlyRole(SETTLER_ROLE) returns (uint256 escrowId) {
        Authorization calldata authorization = purchase.authorization;
        uint256 closedAt = Math.saturatingAdd(authorization.validBefore, FINISH_WINDOW);
        if (block.timestamp >= closedAt) revert FinishTooLate(closedAt, block.timestamp);
        _requireArrived(authorization);
        return _split(authorization.from, authorization.nonce, authorization.value, purchase.attribution);
    }

    /// @notice Gives such a payment back to its payer. Anyone may call it who has the permission of a settler; the money goes to the
    /// payer and nowhere else.
    /// @dev The permission says what only a settler can tell: that this authorisation moved the money. See `TAKE_BACK_TYPEHASH`.
    /// @param authorization The payment, of kind `Transfer`
    /// @param notBefore Unix seconds from which the permission holds
    /// @param permission 65 bytes `r, s, v`: a settler's EIP-191 signature (`personal_sign`) over the EIP-712 digest of `TakeBack`
    function takeBack(Authorization calldata authorization, uint256 notBefore, bytes calldata permission) external {
        _requireArrived(authorization);
        _takeBack(authorization.from, authorization.nonce, authorization.value, notBefore, permission);
    }

    /// @notice Splits a plain transfer, on the payer's signature, once per payer and transaction. Only a settler may call it.
    /// @dev The settler verifies that the transaction moved `value` from the payer to this contract, and that it did so by a
    /// plain transfer: one made by an authorisation is finished with `finish`.
    /// @param charge The transfer and the payer's signature
    /// @param attribution The attribution of the purchase
    /// @return escrowId Id of the new escrow
    function splitDeposit(Charge calldata charge, Attribution calldata attribution)
        external
        onlyRole(SETTLER_ROLE)
        returns (uint256 escrowId)
    {
        _requireCharged(charge, attribution.buyerAgentId);
        return _split(charge.payer, chargeNonce(charge.txHash), charge.value, attribution);
    }

    /// @notice Gives a plain transfer back to its payer, on the same signature. Anyone may call it who has the permission of a
    /// settler; the money goes to the payer and nowhere else.
    /// @param charge The transfer and the payer's signature
    /// @param buyerAgentId The buying agent that the payer signed, or `AGENTLESS`
    /// @param notBefore Unix seconds from which the permission holds
    /// @param permission As for `takeBack`; its nonce is `chargeNonce` of the transaction
    function takeBackDeposit(
        Charge calldata charge,
        uint256 buyerAgentId,
        uint256 notBefore,
        bytes calldata permission
    ) external {
        _requireCharged(charge, buyerAgentId);
        _takeBack(charge.payer, chargeNonce(charge.txHash), charge.value, notBefore, permission);
    }

    // ---- reading

    /// @notice The nonce that commits to an attribution.
    /// @param attribution The attribution of the purchase
    /// @return The nonce that the payer signs so that anyone may settle the purchase
    function attributionNonce(Attribution calldata attribution) public pure returns (bytes32) {
        return keccak256(abi.encode(ATTRIBUTION_TYPEHASH, attribution));
    }

    /// @notice The nonce under which a plain transfer is recorded.
    /// @param txHash Hash of the transaction that made the transfer
    /// @return The nonce in the escrow and in `refunded`
    function chargeNonce(bytes32 txHash) public pure returns (bytes32) {
        return keccak256(abi.encode(CHARGE_COMMITMENT_TYPEHASH, txHash));
    }

    /// @notice Money here that is owed to nobody yet: payments to finish and deposits to split.
    /// @return The sum, in USDC base units
    function unsplit() public view returns (uint256) {
        return TOKEN.balanceOf(address(this)) - totalClaimable;
    }

    // ---- internal

    /// @dev No settler vouches for the attribution on this path, so everything about it that the chain knows is checked.
    function _requireCommitted(Purchase calldata purchase) private view {
        Attribution calldata attribution = purchase.attribution;
        bytes32 expected = attributionNonce(attribution);
        if (purchase.authorization.nonce != expected) {
            revert NonceNotCommitted(purchase.authorization.nonce, expected);
        }
        (uint256 authorId, uint256 merchantId) = REVIEWS.authorOf(attribution.reviewId);
        if (authorId != attribution.reviewerAgentId || merchantId != attribution.merchantId) {
            revert ReviewMismatch(attribution.reviewId, attribution.reviewerAgentId, attribution.merchantId);
        }
        address payer = purchase.authorization.from;
        (bool readable, address author) = IDENTITIES.readOwner(authorId);
        if (!readable) revert RegistryUnreadable(authorId);
        if (author == payer) revert SelfReferral(payer, authorId);
        uint256 buyerAgentId = attribution.buyerAgentId;
        if (
            buyerAgentId != Identities.AGENTLESS && IDENTITIES.findOwner(buyerAgentId) != payer
                && IDENTITIES.findWallet(buyerAgentId) != payer
        ) revert NotTheBuyersAgent(payer, buyerAgentId);
    }

    function _settle(Purchase calldata purchase) private returns (uint256 escrowId) {
        Authorization calldata authorization = purchase.authorization;
        function(address, address, uint256, uint256, uint256, bytes32, bytes memory) external redeem = authorization.kind
            == AuthorizationType.Receive ? TOKEN.receiveWithAuthorization : TOKEN.transferWithAuthorization;
        redeem(
            authorization.from,
            address(this),
            authorization.value,
            authorization.validAfter,
            authorization.validBefore,
            authorization.nonce,
            authorization.signature
        );
        return _split(authorization.from, authorization.nonce, authorization.value, purchase.attribution);
    }

    function _split(address payer, bytes32 nonce, uint256 price, Attribution calldata attribution)
        private
        returns (uint256 escrowId)
    {
        _requireBounds(price, attribution);
        // Asked first, so that an outage of the registry is not reported as a closed merchant.
        (bool readable, address reviewer) = IDENTITIES.readPayee(attribution.reviewerAgentId);
        if (!readable) revert RegistryUnreadable(attribution.reviewerAgentId);
        (address merchant, uint256 commissionBps, uint256 minPrice) =
            MERCHANTS.termsOfSale(attribution.merchantId, attribution.productId);
        if (price < minPrice) revert PriceTooLow(price, minPrice);
        if (reviewer == address(0)) revert ReviewerNotFound(attribution.reviewerAgentId);
        if (reviewer == payer) revert SelfReferral(payer, attribution.reviewerAgentId);

        Split.Parts memory parts = Split.divide(
            Split.Rates({
                price: price,
                commissionBps: commissionBps,
                multiplierBps: attribution.commissionMultiplierBps,
                feeBps: FEE_BPS,
                cashbackBps: attribution.cashbackOfCommissionBps,
                heldBackBps: HELD_BACK_BPS
            })
        );

        // The escrow's record prevents a second split of the payment, so it is made before any payout. The escrow must be funded, so a
        // refused transfer reverts here instead of being deferred by `_pay`.
        // The fee is sent together with what waits: a separate transfer would cost every purchase 8,200 gas.
        uint256 held = parts.heldBack + parts.cashback + parts.fee;
        if (held != 0) TOKEN.safeTransfer(address(ESCROW), held);
        escrowId = ESCROW.deposit(
            CommissionEscrow.Terms({
                escrowId: 0,
                payer: payer,
                nonce: nonce,
                merchantId: attribution.merchantId,
                productId: attribution.productId,
                reviewId: attribution.reviewId,
                reviewerAgentId: attribution.reviewerAgentId,
                buyerAgentId: attribution.buyerAgentId,
                heldBack: parts.heldBack,
                cashback: parts.cashback,
                windowEnd: 0
            }),
            price,
            price - parts.merchant,
            parts.fee
        );
        _pay(merchant, parts.merchant);
        _pay(reviewer, parts.immediate);
    }

    function _takeBack(address payer, bytes32 nonce, uint256 value, uint256 notBefore, bytes calldata permission) private {
        // A paused escrow also stops this, so that one switch stops everything that a settler's key can do.
        if (ESCROW.paused()) revert Pausable.EnforcedPause();
        if (block.timestamp < notBefore) revert TakeBackTooEarly(notBefore, block.timestamp);
        bytes32 digest = _hashTypedDataV4(keccak256(abi.encode(TAKE_BACK_TYPEHASH, payer, nonce, value, notBefore)));
        (address signer, ECDSA.RecoverError err,) =
            ECDSA.tryRecoverCalldata(MessageHashUtils.toEthSignedMessageHash(digest), permission);
        if (err != ECDSA.RecoverError.NoError || !hasRole(SETTLER_ROLE, signer)) revert NotPermitted(signer);
        (uint256 escrowId,,,) = ESCROW.escrowOf(payer, nonce);
        if (escrowId != 0) revert ICommissionEscrowErrors.PaymentAlreadySplit(payer, nonce, escrowId);
        refunded[payer][nonce] = true;
        emit PaymentRefunded(payer, nonce, value);
        _pay(payer, value);
    }

    /// @dev The token used this authorisation (or its payer cancelled it; only the settler can tell) and the money is still
    /// here.
    function _requireArrived(Authorization calldata authorization) private view {
        if (authorization.kind != AuthorizationType.Transfer) revert NotTransferAuthorization();
        if (!TOKEN.authorizationState(authorization.from, authorization.nonce)) {
            revert AuthorizationNotUsed(authorization.from, authorization.nonce);
        }
        bytes32 structHash = keccak256(
            abi.encode(
                TRANSFER_WITH_AUTHORIZATION_TYPEHASH,
                authorization.from,
                address(this),
                authorization.value,
                authorization.validAfter,
                authorization.validBefore,
                authorization.nonce
            )
        );
        bytes32 digest = MessageHashUtils.toTypedDataHash(TOKEN.DOMAIN_SEPARATOR(), structHash);
        _requireUnsplit(authorization.from, authorization.nonce, authorization.value);
        _requireSignature(authorization.from, digest, authorization.signature);
    }

    /// @dev The payer asked for this transfer to be split, and the money is still here.
    function _requireCharged(Charge calldata charge, uint256 buyerAgentId) private view {
        bytes32 structHash = keccak256(
            abi.encode(CHARGE_COMMITMENT_TYPEHASH, charge.txHash, charge.tokenHash, buyerAgentId, charge.payer)
        );
        _requireUnsplit(charge.payer, chargeNonce(charge.txHash), charge.value);
        _requireSignature(charge.payer, _hashTypedDataV4(structHash), charge.signature);
    }

    function _requireBounds(uint256 price, Attribution calldata attribution) private pure {
        if (price == 0) revert ZeroPrice();
        uint256 multiplierBps = attribution.commissionMultiplierBps;
        if (multiplierBps < Split.MIN_MULTIPLIER_BPS || multiplierBps > Split.MAX_MULTIPLIER_BPS) {
            revert MultiplierOutOfBounds(multiplierBps, Split.MIN_MULTIPLIER_BPS, Split.MAX_MULTIPLIER_BPS);
        }
        if (attribution.cashbackOfCommissionBps > Split.MAX_CASHBACK_BPS) {
            revert CashbackTooHigh(attribution.cashbackOfCommissionBps, Split.MAX_CASHBACK_BPS);
        }
    }

    function _requireSignature(address signer, bytes32 digest, bytes calldata signature) private view {
        if (!Signatures.isValid(signer, digest, signature)) revert InvalidSignature(signer);
    }

    function _requireUnsplit(address payer, bytes32 nonce, uint256 needed) private view {
        if (refunded[payer][nonce]) revert PaymentAlreadyRefunded(payer, nonce);
        uint256 available = unsplit();
        if (available < needed) revert NotEnoughUnsplit(needed, available);
    }
}
