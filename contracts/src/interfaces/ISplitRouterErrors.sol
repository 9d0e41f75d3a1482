// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Errors of the split router
interface ISplitRouterErrors {
    /// @notice The router was to be deployed with shares that add up to more than there is.
    /// @dev Deploy with `feeBps` of at most 6000 (the rest is the highest cashback) and `heldBackBps` of at most 10000.
    /// @param feeBps The platform's share of a commission, in basis points
    /// @param heldBackBps The part of the reviewer's share that waits, in basis points
    error InvalidShares(uint256 feeBps, uint256 heldBackBps);

    /// @notice The payment is zero.
    /// @dev Sign a payment of at least the product's lowest price.
    error ZeroPrice();

    /// @notice The payment is below the product's lowest price.
    /// @dev Sign a payment of at least `minimum`. The payer takes money that already arrived back with `takeBack`
    /// or `takeBackDeposit`.
    /// @param price The payment, in USDC base units
    /// @param minimum The product's lowest price, in USDC base units
    error PriceTooLow(uint256 price, uint256 minimum);

    /// @notice The rank multiplier of the attribution is outside its bounds.
    /// @dev Use the multiplier of the ref link's attribution token.
    /// @param multiplierBps The refused multiplier, in basis points
    /// @param minimum The lowest multiplier, in basis points: 4000
    /// @param maximum The highest multiplier, in basis points: 10000
    error MultiplierOutOfBounds(uint256 multiplierBps, uint256 minimum, uint256 maximum);

    /// @notice The attribution promises the buyer too much of the commission.
    /// @dev Use the cashback of the ref link's attribution token.
    /// @param cashbackBps The refused cashback, in basis points of the commission
    /// @param maximum The highest cashback, in basis points of the commission: 4000
    error CashbackTooHigh(uint256 cashbackBps, uint256 maximum);

    /// @notice The caller is not a settler, and the payment's nonce does not commit to the attribution.
    /// @dev Have the payer sign with the nonce `expected`, or have a settler submit the purchase.
    /// @param nonce The payment's nonce
    /// @param expected `attributionNonce` of the attribution
    error NonceNotCommitted(bytes32 nonce, bytes32 expected);

    /// @notice The review was not written by that reviewer about that merchant. Only checked when the caller is not a settler.
    /// @dev Take reviewer and merchant from `ReviewRegistry.authorOf(reviewId)`; the payer has to sign again.
    /// @param reviewId The review named in the attribution
    /// @param reviewerAgentId The reviewer named in the attribution
    /// @param merchantId The merchant named in the attribution
    error ReviewMismatch(uint256 reviewId, uint256 reviewerAgentId, uint256 merchantId);

    /// @notice The payer is neither the owner nor the agent wallet of the buying agent. Only checked when the caller is not a
    /// settler.
    /// @dev Pay from a wallet of the agent, or sign an attribution with `AGENTLESS` as the buyer.
    /// @param payer The wallet that pays
    /// @param buyerAgentId The buying agent named in the attribution
    error NotTheBuyersAgent(address payer, uint256 buyerAgentId);

    /// @notice The reviewer's identity does not exist, so nobody could be paid.
    /// @dev Check the reviewer's id against the ref link. The payer takes money that already arrived back with
    /// `takeBack` or `takeBackDeposit`.
    /// @param reviewerAgentId The reviewer named in the attribution
    error ReviewerNotFound(uint256 reviewerAgentId);

    /// @notice The identity registry gave no usable answer about the reviewer, so nobody can tell whom to pay. No money moved.
    /// @dev Retry later: the registry reverts, is being upgraded, or needs more than 50,000 gas for an answer.
    /// @param reviewerAgentId The reviewer named in the attribution
    error RegistryUnreadable(uint256 reviewerAgentId);

    /// @notice The payer would earn commission on its own purchase: it is the wallet at which the reviewer is paid, or the
    /// reviewer's owner.
    /// @dev Buy without the ref link, or through the review of somebody else.
    /// @param payer The wallet that pays
    /// @param reviewerAgentId The reviewer named in the attribution
    error SelfReferral(address payer, uint256 reviewerAgentId);

    /// @notice `finish` or `takeBack` was called with a `Receive` authorisation.
    /// @dev Call `settle`: only this contract can redeem such an authorisation, so its money cannot have arrived unsplit.
    error NotTransferAuthorization();

    /// @notice `finish` or `takeBack` was called before the token used the authorisation.
    /// @dev Nothing has arrived yet: call `settle`.
    /// @param payer The wallet that pays
    /// @param nonce The payment's nonce
    error AuthorizationNotUsed(address payer, bytes32 nonce);

    /// @notice The signature is not the payer's over exactly this payment or charge.
    /// @dev Check every signed field, the EIP-712 domain (token, or this router for a charge) and the chain id, then have the
    /// payer sign again.
    /// @param signer The payer, who must sign
    error InvalidSignature(address signer);

    /// @notice The router holds less unsplit money than the payment claims to have brought.
    /// @dev Check in the logs that the transfer reached this router and was not split or refunded by another call.
    /// @param needed The payment, in USDC base units
    /// @param available Unsplit money in the router, in USDC base units
    error NotEnoughUnsplit(uint256 needed, uint256 available);

    /// @notice The payment went back to its payer before.
    /// @dev Do not retry: `PaymentRefunded` has the amount. To buy, the payer signs a payment with another nonce.
    /// @param payer The wallet that paid
    /// @param nonce The payment's nonce
    error PaymentAlreadyRefunded(address payer, bytes32 nonce);

    /// @notice `finish` was called too long after the authorisation's end.
    /// @dev Do not retry: the payer takes the money back with `takeBack`, and signs a new payment to buy.
    /// @param closedAt Unix seconds from which the payment can no longer be split
    /// @param timestamp The block timestamp, in Unix seconds
    error FinishTooLate(uint256 closedAt, uint256 timestamp);

    /// @notice `takeBack` or `takeBackDeposit` was called before the permission holds.
    /// @dev Retry at `notBefore` or later.
    /// @param notBefore Unix seconds from which the permission holds
    /// @param timestamp The block timestamp, in Unix seconds
    error TakeBackTooEarly(uint256 notBefore, uint256 timestamp);

    /// @notice The permission to take the payment back was not signed by a settler over exactly this payer, nonce, value and time.
    /// @dev Pass the four as the facilitator gave them. If its key has lost the role since, ask it for a new permission.
    /// @param signer The account whose signature it is; zero when it is not a signature
    error NotPermitted(address signer);

    /// @notice `settleOne` was called from outside.
    /// @dev Call `settleBatch`, or `settle` for a single purchase.
    /// @param caller Who called
    error OnlySelf(address caller);

    /// @notice A batch came with too little gas for its next purchase; the whole batch reverts.
    /// @dev Send it again with a higher gas limit or with fewer purchases: `needed`
    /// must be left before each.
    /// @param available Gas that was left
    /// @param needed Gas that the next purchase needs
    error NotEnoughGas(uint256 available, uint256 needed);
}
