// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Events of the commission escrow
interface ICommissionEscrowEvents {
    /// @notice A purchase was split, and its escrow holds `heldBack` and `cashback`. All amounts are in USDC base units.
    /// @dev The reviewer got `commission - fee - heldBack - cashback` at once, the merchant `price - commission`.
    /// @param escrowId Id of the new escrow, counted from 1
    /// @param reviewerAgentId The agent whose review led to the purchase
    /// @param buyerAgentId The agent that bought; `AGENTLESS` when a wallet bought without one
    /// @param payer The wallet that paid
    /// @param nonce The payment's nonce, unique per payer
    /// @param merchantId The merchant that sold
    /// @param productId The product that was sold
    /// @param reviewId The review whose link the buyer followed
    /// @param price What the buyer paid
    /// @param commission The whole commission
    /// @param fee The platform's part of the commission
    /// @param heldBack The reviewer's part that waits
    /// @param cashback The buyer's part that waits; zero when none was pledged
    /// @param windowEnd Unix seconds from which the oracle may settle
    event EscrowDeposited(
        uint256 indexed escrowId,
        uint256 indexed reviewerAgentId,
        uint256 indexed buyerAgentId,
        address payer,
        bytes32 nonce,
        uint256 merchantId,
        bytes32 productId,
        uint256 reviewId,
        uint256 price,
        uint256 commission,
        uint256 fee,
        uint256 heldBack,
        uint256 cashback,
        uint256 windowEnd
    );

    /// @notice The wallet that paid named its agent. From now on the terms carry that agent as the buyer.
    /// @param escrowId Id of the escrow
    /// @param agentId The agent that is the buyer from now on
    /// @param boundBy The wallet that paid
    event EscrowBound(uint256 indexed escrowId, uint256 indexed agentId, address indexed boundBy);

    /// @notice The buyer earned the cashback and got it before settlement.
    /// @param escrowId Id of the escrow
    /// @param payer The wallet that paid and now gets the cashback
    /// @param amount The cashback in USDC base units; zero when none was pledged
    event CashbackReleased(uint256 indexed escrowId, address indexed payer, uint256 amount);

    /// @notice The escrow is settled for good. All amounts are in USDC base units and do not include cashback that was released
    /// before.
    /// @param escrowId Id of the escrow
    /// @param settledBy The oracle, or whoever used the fallback
    /// @param fallbackUsed Whether it was settled by `settleFallback`
    /// @param heldBackToReviewer Held-back commission that went to the reviewer; while the registry does not tell whom to pay,
    /// it waits for the identity (`AgentPayoutDeferred`)
    /// @param heldBackToTreasury Held-back commission that went to the treasury
    /// @param cashbackToBuyer Cashback that went to the wallet that paid
    /// @param cashbackToReviewer Cashback that went to the reviewer, likewise
    event EscrowSettled(
        uint256 indexed escrowId,
        address indexed settledBy,
        bool fallbackUsed,
        uint256 heldBackToReviewer,
        uint256 heldBackToTreasury,
        uint256 cashbackToBuyer,
        uint256 cashbackToReviewer
    );

    /// @notice An escrow of a batch failed and is unchanged; the others are not affected.
    /// @param escrowId The id given in the terms; not verified
    /// @param payer The payer given in the terms
    /// @param nonce The nonce given in the terms
    /// @param reason The revert data of `settle` or `releaseCashback`; empty when it ran out of its gas
    event EscrowSkipped(uint256 indexed escrowId, address indexed payer, bytes32 indexed nonce, bytes reason);

    /// @notice The registry did not tell whom to pay for an identity; the money waits for whomever it names later.
    /// @param agentId Id of the identity
    /// @param amount What was added to `claimableByAgent`, in USDC base units
    event AgentPayoutDeferred(uint256 indexed agentId, uint256 amount);

    /// @notice What waited for an identity was paid.
    /// @param agentId Id of the identity
    /// @param account Who was paid; if the token refuses the account, `PayoutDeferred` follows
    /// @param amount All that waited, in USDC base units
    event AgentPayoutClaimed(uint256 indexed agentId, address indexed account, uint256 amount);

    /// @notice The collected fees went to the treasury.
    /// @param treasury Who got them
    /// @param amount The fees in USDC base units, never zero
    event FeesCollected(address indexed treasury, uint256 amount);
}
