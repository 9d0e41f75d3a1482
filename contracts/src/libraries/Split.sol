// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title How a price is divided
/// @notice Every division rounds down; what rounding leaves goes to the next party in line, so that the parts always add up to the price.
library Split {
    uint256 internal constant BPS = 10_000;
    /// @notice Bounds of the rank multiplier on a product's commission rate: 0.4 to 1.0.
    uint256 internal constant MIN_MULTIPLIER_BPS = 4_000;
    uint256 internal constant MAX_MULTIPLIER_BPS = 10_000;
    /// @notice The most of a commission that a reviewer may pledge to the buyer.
    uint256 internal constant MAX_CASHBACK_BPS = 4_000;

    /// @param price What the buyer paid
    /// @param commissionBps The product's commission rate
    /// @param multiplierBps The reviewer's rank multiplier on that rate
    /// @param feeBps The platform's share of the commission
    /// @param cashbackBps The buyer's share of the commission
    /// @param heldBackBps The part of the reviewer's share that waits in escrow
    struct Rates {
        uint256 price;
        uint256 commissionBps;
        uint256 multiplierBps;
        uint256 feeBps;
        uint256 cashbackBps;
        uint256 heldBackBps;
    }

    /// @param merchant Price less commission
    /// @param immediate The reviewer's part that is paid at once
    /// @param heldBack The reviewer's part that waits in escrow
    /// @param fee The platform's part
    /// @param cashback The buyer's part, which waits in escrow
    struct Parts {
        uint256 merchant;
        uint256 immediate;
        uint256 heldBack;
        uint256 fee;
        uint256 cashback;
    }

    error PriceTooHigh(uint256 price, uint256 maximum);

    /// @dev Unchecked: with the price in 64 bits and every rate at most 10000, fee and cashback together too, nothing can overflow.
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
