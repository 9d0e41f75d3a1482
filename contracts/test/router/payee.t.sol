// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ISplitRouterErrors} from "../../src/interfaces/ISplitRouterErrors.sol";
import {RouterTest} from "../base/RouterTest.sol";

/// @notice Who gets the reviewer's and the merchant's share of a sale.
contract PayeeTest is RouterTest {
    Wallet private till = makeWallet("till");

    function test_succeeds_whenTheReviewerIsPaidAtItsAgentWallet() public {
        setAgentWallet(reviewer.addr, reviewerAgentId, till);
        buy();
        assertBalance(till.addr, IMMEDIATE, "agent wallet");
        assertBalance(reviewer.addr, 0, "owner");
    }

    function test_succeeds_whenTheAgentWalletChanges() public {
        setAgentWallet(reviewer.addr, reviewerAgentId, till);
        buy();
        setAgentWallet(reviewer.addr, reviewerAgentId, makeWallet("second till"));
        buy();
        assertBalance(till.addr, IMMEDIATE, "first wallet");
        assertBalance(makeAddr("second till"), IMMEDIATE, "second wallet");
    }

    function test_succeeds_whenTheAgentWalletIsCleared() public {
        setAgentWallet(reviewer.addr, reviewerAgentId, till);
        vm.prank(reviewer.addr);
        identities.unsetAgentWallet(reviewerAgentId);
        buy();
        assertBalance(till.addr, 0, "agent wallet");
        assertBalance(reviewer.addr, IMMEDIATE, "owner");
    }

    /// @dev The owner does not stand in for a wallet that the registry does not tell: somebody else may live on that wallet.
    function test_reverts_whenTheWalletCannotBeRead() public {
        setAgentWallet(reviewer.addr, reviewerAgentId, till);
        vm.mockCallRevert(
            address(identities), abi.encodeCall(identities.getAgentWallet, (reviewerAgentId)), "upgraded away"
        );
        assertRefused(
            purchaseOf(buyer), abi.encodeWithSelector(ISplitRouterErrors.RegistryUnreadable.selector, reviewerAgentId)
        );
    }

    function test_succeeds_whenTheReviewerChangedHands() public {
        setAgentWallet(reviewer.addr, reviewerAgentId, till);
        transferIdentity(reviewer.addr, stranger, reviewerAgentId);
        buy();
        assertBalance(till.addr, 0, "former wallet");
        assertBalance(reviewer.addr, 0, "former owner");
        assertBalance(stranger, IMMEDIATE, "owner");
    }

    function test_succeeds_whenTheMerchantIsPaidAtItsPayoutWallet() public {
        vm.prank(merchant.addr);
        merchants.setPayoutWallet(merchantId, till.addr);
        buy();
        assertBalance(till.addr, MERCHANT_NET, "payout wallet");
        assertBalance(merchant.addr, 0, "owner");
    }

    /// @dev The merchant's identity has an agent wallet too; sales do not go there.
    function test_succeeds_whenTheMerchantHasAnAgentWallet() public {
        setAgentWallet(merchant.addr, merchantId, till);
        buy();
        assertBalance(merchant.addr, MERCHANT_NET, "payout wallet");
        assertBalance(till.addr, 0, "agent wallet");
    }

    function test_succeeds_whenMerchantAndReviewerAreOne() public {
        transferIdentity(reviewer.addr, merchant.addr, reviewerAgentId);
        buy();
        assertBalance(merchant.addr, MERCHANT_NET + IMMEDIATE, "both");
    }
}
