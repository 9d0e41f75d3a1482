// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Division of a price among merchant, reviewer, buyer and platform
/// @notice Every division rounds down. The remainder goes to the reviewer within the commission and to the merchant within the
/// price, so that the parts always add up to the price.
library Split {
    /// @notice 100 % in basis points.
    uint256 internal constant BPS = 10_000;
    /// @notice The lowest rank multiplier on a product's commission rate: 0.4.
    uint256 internal constant MIN_MULTIPLIER_BPS = 4_000;
    /// @notice The highest rank multiplier on a product's commission rate: 1.0.
    uint256 internal constant MAX_MULTIPLIER_BPS = 10_000;
    /// @notice The largest share of a commission, in basis points, that a reviewer may pledge to the buyer.
    uint256 internal constant MAX_CASHBACK_BPS = 4_000;

    /// @notice What `divide` computes with.
    /// @param price What the buyer paid, in USDC base units, at most 2^64 - 1
    /// @param commissionBps The product's commission rate in basis points of the price, at most 10000
    /// @param multiplierBps The reviewer's rank multiplier on that rate in basis points, at most 10000
    /// @param feeBps The platform's share in basis points of the commission; together with `cashbackBps` at most 10000
    /// @param cashbackBps The buyer's share in basis points of the commission
    /// @param heldBackBps The part of the reviewer's share that waits in escrow, in basis points of that share, at most 10000
    struct Rates {
        uint256 price;
        uint256 commissionBps;
        uint256 multiplierBps;
        uint256 feeBps;
        uint256 cashbackBps;
        uint256 heldBackBps;
    }

    /// @notice What each party gets, in USDC base units. The five parts add up to the price.
    /// @param merchant Price less commission, paid at once
    /// @param immediate The reviewer's part that is paid at once
    /// @param heldBack The reviewer's part that waits in escrow
    /// @param fee The platform's part of the commission
    /// @param cashback The buyer's part of the commission, which waits in escrow
    struct Parts {
        uint256 merchant;
        uint256 immediate;
        uint256 heldBack;
        uint256 fee;
        uint256 cashback;
    }

    /// @notice The price does not fit in 64 bits, the width in which sums are stored.
    /// @dev Pay at most `maximum` in one purchase.
    /// @param price The price of the refused purchase, in USDC base units
    /// @param maximum The highest price, in USDC base units: 2^64 - 1
    error PriceTooHigh(uint256 price, uint256 maximum);

    /// @notice Divides a price.
    /// @dev Unchecked: with the price in 64 bits and every rate at most 10000, fee and cashback together too, nothing can
    /// overflow.
    /// @param rates The price and the rates; the caller has checked the bounds of the rates
    /// @return parts What each party gets, in USDC base units
    function divide(Rates memory rates) internal pure returns (Parts memory parts) {
        if (rates.price > type(uint64).max) revert PriceTooHigh(rates.price, type(uint64).max);
        unchecked {
            uint256 commission = rates.price * rates.commissionBps * rates.multiplierBps / (BPS * BPS);
            parts.merchant = rates.price - commission;
            parts.fee = commission * rates.feeBps / BPS;
            parts.cashback = commission * rates.cashbackBps / BPS;
            uint256 reviewer = commission - parts.fee - parts.cashback;
            parts.heldBack = reviewer * rates.heldBackBps / BPS;
            parts.immediate = reviewer - parts.heldBack;
        }
    }
}
