// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {CommissionEscrow} from "./CommissionEscrow.sol";
import {MerchantRegistry} from "./MerchantRegistry.sol";
import {ReviewRegistry} from "./ReviewRegistry.sol";
import {Payouts} from "./base/Payouts.sol";
import {Roles} from "./base/Roles.sol";
import {IIdentityRegistry} from "./interfaces/IIdentityRegistry.sol";
import {IUSDC} from "./interfaces/IUSDC.sol";
import {Identities} from "./libraries/Identities.sol";
import {Signatures} from "./libraries/Signatures.sol";
import {Split} from "./libraries/Split.sol";

/// @title Splits a purchase among everybody who had a part in it
/// @notice A buyer pays this contract with an EIP-3009 authorisation; in the same transaction the merchant and the reviewer get
/// their shares and the escrow gets what waits and the platform's fee. Between transactions the router holds nothing but deferred payouts and payments
/// that reached it without being split yet.
/// @dev The only foreign code a call can reach is a contract wallet's signature check, and that by static call.
contract SplitRouter is Roles, Payouts, EIP712 {
    using Identities for IIdentityRegistry;
    using SafeERC20 for IUSDC;

    /// @notice `Receive` can be redeemed by this contract only and is preferred. `Transfer` is what stock clients sign.
    enum AuthorizationType {
        Receive,
        Transfer
    }

    /// @notice An EIP-3009 authorisation to this contract.
    struct Authorization {
        AuthorizationType kind;
        address from;
        uint256 value;
        uint256 validAfter;
        uint256 validBefore;
        bytes32 nonce;
        bytes signature;
    }

    /// @notice Whose sale it is.
    /// @param merchantId Who sells
    /// @param productId What is sold
    /// @param reviewId The review whose link the buyer followed
    /// @param reviewerAgentId Who wrote it
    /// @param buyerAgentId The buying agent, or the escrow's `AGENTLESS`
    /// @param cashbackOfCommissionBps The buyer's share of the commission
    /// @param commissionMultiplierBps The rank multiplier on the product's commission rate
    /// @param salt Makes the nonce unique where the nonce commits to all of this; otherwise unused
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

    struct Purchase {
        Authorization authorization;
        Attribution attribution;
    }

    /// @notice A plain transfer to this contract that the payer asks to have split.
    /// @param txHash The transfer's transaction
    /// @param payer Who sent it
    /// @param value How much
    /// @param tokenHash keccak256 of the attribution token's text
    /// @param signature The payer's `ChargeCommitment`
    struct Charge {
        bytes32 txHash;
        address payer;
        uint256 value;
        bytes32 tokenHash;
        bytes signature;
    }

    bytes32 public constant ATTRIBUTION_TYPEHASH = keccak256(
        "Attribution(uint256 merchantId,bytes32 productId,uint256 reviewId,uint256 reviewerAgentId,uint256 buyerAgentId,uint16 cashbackOfCommissionBps,uint16 commissionMultiplierBps,bytes32 salt)"
    );
    bytes32 public constant CHARGE_COMMITMENT_TYPEHASH = keccak256(
        "ChargeCommitment(bytes32 txHash,bytes32 tokenHash,uint256 buyerAgentId,address payer)"
    );
    bytes32 private constant TRANSFER_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );

    /// @notice The gas that each purchase of a batch can count on, and the most it can burn.
    uint256 public constant GAS_PER_PURCHASE = 500_000;

    IIdentityRegistry public immutable IDENTITIES;
    MerchantRegistry public immutable MERCHANTS;
    ReviewRegistry public immutable REVIEWS;
    CommissionEscrow public immutable ESCROW;
    /// @notice The platform's share of a commission.
    uint256 public immutable FEE_BPS;
    /// @notice The part of a reviewer's share that waits in escrow.
    uint256 public immutable HELD_BACK_BPS;

    /// @notice Payments that went back to their payer. (Those that were split are the escrow's records.)
    mapping(address payer => mapping(bytes32 nonce => bool)) public refunded;

    /// @notice A payment that could not be split went back to its payer.
    event PaymentRefunded(address indexed payer, bytes32 indexed nonce, uint256 value);
    /// @notice A purchase of a batch was refused; `reason` is its revert data. Nothing of it happened.
    event PurchaseFailed(address indexed payer, bytes32 indexed nonce, bytes reason);

    error InvalidShares(uint256 feeBps, uint256 heldBackBps);
    error ZeroPrice();
    error PriceTooLow(uint256 price, uint256 minimum);
    error MultiplierOutOfBounds(uint256 multiplierBps, uint256 minimum, uint256 maximum);
    error CashbackTooHigh(uint256 cashbackBps, uint256 maximum);
    error NonceNotCommitted(bytes32 nonce, bytes32 expected);
    error ReviewMismatch(uint256 reviewId, uint256 reviewerAgentId, uint256 merchantId);
    error NotTheBuyersAgent(address payer, uint256 buyerAgentId);
    error ReviewerNotFound(uint256 reviewerAgentId);
    error SelfReferral(address payer, uint256 reviewerAgentId);
    error NotTransferAuthorization();
    error AuthorizationNotUsed(address payer, bytes32 nonce);
    error InvalidSignature(address signer);
    error NotEnoughUnsplit(uint256 needed, uint256 available);
    error PaymentAlreadyRefunded(address payer, bytes32 nonce);
    error OnlySelf(address caller);
    error NotEnoughGas(uint256 available, uint256 needed);

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

    /// @notice Takes the payment and splits it. Settlers may settle any purchase; everybody else only one whose nonce commits to
    /// its attribution, where nothing is left for the caller to choose.
    function settle(Purchase calldata purchase) external returns (uint256 escrowId) {
        if (!hasRole(SETTLER_ROLE, msg.sender)) _requireCommitted(purchase);
        return _settle(purchase);
    }

    /// @notice Settles many purchases; each alone succeeds or fails. Look for `EscrowDeposited` or `PurchaseFailed` for each.
    function settleBatch(Purchase[] calldata purchases) external {
        bool trusted = hasRole(SETTLER_ROLE, msg.sender);
        for (uint256 i = 0; i < purchases.length; ++i) {
            // Without this, a caller who sends too little gas could make good purchases fail.
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

    /// @notice One purchase of a batch. Only this contract calls it.
    function settleOne(Purchase calldata purchase, bool trusted) external {
        if (msg.sender != address(this)) revert OnlySelf(msg.sender);
        if (!trusted) _requireCommitted(purchase);
        _settle(purchase);
    }

    // ---- payments that arrived without being split

    /// @notice Splits a payment that somebody else submitted to the token first, so that the money lies here unsplit.
    /// @dev The token cannot tell a used nonce from a cancelled one, and money has no name: the settler vouches, from the transaction's
    /// logs, that this authorisation is what moved the money. The checks here bound what a wrong settler can do: the payer signed
    /// exactly this payment to this router, it was never split or refunded, and nobody else's money is needed.
    function finish(Purchase calldata purchase) external onlyRole(SETTLER_ROLE) returns (uint256 escrowId) {
        Authorization calldata authorization = purchase.authorization;
        _requireArrived(authorization);
        return _split(authorization.from, authorization.nonce, authorization.value, purchase.attribution);
    }

    /// @notice Gives such a payment back to its payer, for when it can no longer be split, say because the merchant has closed.
    function refund(Authorization calldata authorization) external onlyRole(SETTLER_ROLE) {
        _requireArrived(authorization);
        _refund(authorization.from, authorization.nonce, authorization.value);
    }

    /// @notice Splits a plain transfer, on the payer's signature. One per payer and transaction.
    /// @dev The settler vouches that the transaction moved `value` from the payer to this contract, and that it did so by a plain
    /// transfer: one made by an authorisation is finished with `finish`.
    function splitDeposit(Charge calldata charge, Attribution calldata attribution)
        external
        onlyRole(SETTLER_ROLE)
        returns (uint256 escrowId)
    {
        _requireCharged(charge, attribution.buyerAgentId);
        return _split(charge.payer, chargeNonce(charge.txHash), charge.value, attribution);
    }

    /// @notice Gives a plain transfer back to its payer, on the same signature.
    function refundDeposit(Charge calldata charge, uint256 buyerAgentId) external onlyRole(SETTLER_ROLE) {
        _requireCharged(charge, buyerAgentId);
        _refund(charge.payer, chargeNonce(charge.txHash), charge.value);
    }

    // ---- reading

    /// @notice The nonce that commits to an attribution.
    function attributionNonce(Attribution calldata attribution) public pure returns (bytes32) {
        return keccak256(abi.encode(ATTRIBUTION_TYPEHASH, attribution));
    }

    /// @notice The nonce under which a charged transaction is recorded.
    function chargeNonce(bytes32 txHash) public pure returns (bytes32) {
        return keccak256(abi.encode(CHARGE_COMMITMENT_TYPEHASH, txHash));
    }

    /// @notice Money here that is owed to nobody yet: payments to finish and deposits to split.
    function unsplit() public view returns (uint256) {
        return TOKEN.balanceOf(address(this)) - totalClaimable;
    }

    // ---- inside

    /// @dev Nobody vouches for the attribution but the payer, so what the chain knows about it is checked.
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
        if (IDENTITIES.findOwner(authorId) == payer) revert SelfReferral(payer, authorId);
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
        (address merchant, uint256 commissionBps, uint256 minPrice) =
            MERCHANTS.termsOfSale(attribution.merchantId, attribution.productId);
        if (price < minPrice) revert PriceTooLow(price, minPrice);
        address reviewer = IDENTITIES.findPayee(attribution.reviewerAgentId);
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

        // The escrow's record is what makes a payment split once: it comes before any payout. It must be funded, so no `_pay` here.
        // The fee goes along with what waits: a transfer of its own would cost every purchase 8,200 gas.
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

    function _refund(address payer, bytes32 nonce, uint256 value) private {
        // One switch stops everything that a settler can do: the escrow refuses deposits by itself.
        if (ESCROW.paused()) revert Pausable.EnforcedPause();
        (uint256 escrowId,,,) = ESCROW.escrowOf(payer, nonce);
        if (escrowId != 0) revert CommissionEscrow.PaymentAlreadySplit(payer, nonce, escrowId);
        refunded[payer][nonce] = true;
        emit PaymentRefunded(payer, nonce, value);
        _pay(payer, value);
    }

    /// @dev The token used this authorisation (or its payer cancelled it; only the settler can tell) and the money is still here.
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
